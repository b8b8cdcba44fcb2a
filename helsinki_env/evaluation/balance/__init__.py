"""Effects of disabled actions in any game, estimated from games in which seats were randomly denied actions."""
