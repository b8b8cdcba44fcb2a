"""PettingZoo's check of the call order, around one game (`envs.aec`)."""

from __future__ import annotations

from typing import Any

from pettingzoo.utils.wrappers.order_enforcing import OrderEnforcingWrapper

from helsinki_env.envs.aec import GameAECEnv

__all__ = ["OrderEnforced"]


class OrderEnforced(OrderEnforcingWrapper):  # type: ignore[misc]  # an untyped base class
    """PettingZoo's check of the call order (reset first, a step for every turn of `agent_iter`).

    PettingZoo looks up every attribute through `__getattr__`, which takes longer than a game step. This class accesses
    the attributes of each step directly. Before the first reset that fails, and PettingZoo's own method explains why.
    """

    env: GameAECEnv
    _has_reset: bool
    _has_updated: bool

    @property
    def agents(self) -> list[str]:
        """Agents whose game is not over."""
        return self.env.agents

    @property
    def agent_selection(self) -> str:
        """The acting agent."""
        return self.env.agent_selection

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return observation, reward, terminated, truncated and info of the acting agent."""
        if not self._has_reset:
            return super().last(observe)  # type: ignore[no-any-return]  # raises the explanatory error
        return self.env.last(observe)

    def step(self, action: int | None) -> None:
        """Apply an action; see `GameAECEnv.step`."""
        if self._has_reset and self.env.agents:
            self._has_updated = True
            self.env.step(action)
        else:
            super().step(action)

    def set_state(self, state: dict[str, Any]) -> None:
        """Load a state from `get_state`, also before the first reset; see `GameAECEnv.set_state`."""
        self.env.set_state(state)
        self._has_reset = True
        self._has_updated = True

    def clone(self) -> OrderEnforced:
        """Return an independent copy with the same wrapper; see `GameAECEnv.clone`."""
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new.env = self.env.clone()
        return new

    def __copy__(self) -> OrderEnforced:
        """Return an independent copy, as `clone`."""
        return self.clone()

    def __str__(self) -> str:
        """Return the environment's name."""
        return str(self.env)
