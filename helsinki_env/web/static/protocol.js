/**
 * Types of the messages between the server and the pages.
 *
 * @typedef {object} Decision  A legal action (see helsinki_env/engine/ui_actions.py).
 * @property {number} id
 * @property {string} kind
 * @property {string} text
 * @property {string} words
 * @property {string} said
 * @property {string[]} at
 * @property {string[]} covers
 * @property {string | null} marked
 * @property {number | null} turn
 * @property {number[] | null} lane
 * @property {number[] | null} rotated
 * @property {number[] | null} flipped
 * @property {boolean} ends  Whether it ends the turn.
 * @property {boolean} reveals  Whether it reveals hidden cards, so that it cannot be undone.
 * @property {string[]} [wins]  Public gains in short phrases; absent for items of a selection.
 *
 * @typedef {Decision & {most: number, part: number}} Item  An item of a selection, which can be selected at most `most` times.
 *
 * @typedef {object} Selection  Actions that can be selected in any order (see helsinki_env/engine/ui_actions.py).
 * @property {string} kind
 * @property {number[]} counts  Number of items of each part.
 * @property {Item[]} items
 * @property {[number, number, boolean][] | null} pairs  The allowed pairs, each with a flag that states whether it requires `between`; null allows all pairs.
 * @property {Decision | null} between
 * @property {boolean} ends  Whether the actions end the turn.
 * @property {boolean} reveals  Whether the actions reveal hidden cards.
 *
 * @typedef {[number, number, number, number]} Box  x, y, width and height in pixels of the picture.
 *
 * @typedef {object} Chair
 * @property {string} name
 * @property {string} player
 * @property {boolean} human
 * @property {number} score
 * @property {number} place  Rank, starting at 0.
 * @property {boolean} to_move
 * @property {{label: string, count: number, points: number, note: string, scores: boolean}[]} sheet  Points by category.
 *
 * @typedef {object} Taken  An action that was taken; `turn` is how often the seat to move had changed before.
 * @property {number} number
 * @property {number} seat
 * @property {string} words
 * @property {string} [english]  The untranslated words.
 * @property {number} turn
 *
 * @typedef {object} View  The view of a table.
 * @property {"table"} type
 * @property {string} table
 * @property {string} name
 * @property {string} game
 * @property {number} number  Number of actions taken.
 * @property {number} seat  The seat to move.
 * @property {string} phase
 * @property {boolean} done
 * @property {number[]} mine  The seats that this browser plays.
 * @property {number | null} viewer
 * @property {number | null} handover  The seat whose player must take over the device first.
 * @property {string} svg
 * @property {[number, number]} size
 * @property {Record<string, Box>} spots
 * @property {Decision[]} decisions
 * @property {Selection | null} selection  The possible selection.
 * @property {{number: number, seat: number, words: string, kind: string}[]} turn
 * @property {number | null} undo  The first action that can be undone.
 * @property {number[]} takeback
 * @property {{seat: number, player: string, seconds: number} | null} thinking
 * @property {boolean} paused
 * @property {boolean} from_position  Whether the game starts from a position, so that it cannot be analyzed.
 * @property {boolean} rated  Whether evaluations are disabled.
 * @property {Chair[]} seats
 * @property {Taken[]} log
 * @property {string | null} message
 *
 * @typedef {object} PositionEvaluation  An evaluation of the actions of the seat to move.
 * @property {"evaluation"} type
 * @property {number} number  Number of actions taken.
 * @property {string} evaluator
 * @property {number} deeper  Number of search simulations; 0 uses only the network.
 * @property {number} seat
 * @property {number[]} shares  Every seat's win probability.
 * @property {{id: number, words: string, probability: number, share: number | null}[]} choices  Best first.
 *
 * @typedef {object} Explained  An explanation of a spot in the picture, and the reason why it cannot be used now.
 * @property {"explained"} type
 * @property {number} number  Number of actions taken.
 * @property {number | null} viewer
 * @property {string} spot
 * @property {string} help
 * @property {string} why  Empty if it can be used.
 *
 * @typedef {object} Lesson  The script of a guided game.
 * @property {"lesson"} type
 * @property {{action: string, text: string}[]} steps  The notation of each of the user's actions, and its explanation.
 * @property {string} end
 *
 * @typedef {object} PracticeState  The next exercise, and the number of exercises.
 * @property {"practice"} type
 * @property {"practice" | "puzzles"} kind
 * @property {number} total
 * @property {number} due
 * @property {number} left  Number of finished games to examine.
 * @property {{title: string, seen: number, level: number} | null} exercise
 *
 * @typedef {object} Graded  The grade of an answer to an exercise.
 * @property {"graded"} type
 * @property {number} action
 * @property {number} regret
 * @property {boolean} good
 * @property {number} best
 * @property {string} words  The best action.
 * @property {number} win  The win probability after it.
 * @property {string} why
 * @property {string} played  The action in the game.
 * @property {boolean} same  Whether the answer is that action.
 * @property {number} days  Days until the exercise is repeated; 0 if unchanged.
 *
 * @typedef {object} ClockState  The clocks of a table; times are in seconds.
 * @property {"clocks"} type
 * @property {(number | null)[]} left  Each person's remaining time; null for players.
 * @property {number | null} running  The seat whose clock is running.
 * @property {string} player  The player that plays the rest of a turn after the time has run out.
 * @property {number} seconds  Initial time.
 * @property {number} increment  Added after each turn.
 *
 * @typedef {{title: string, text: string}} Section  A section of the rules.
 *
 * @typedef {object} Change  The next view in parts, each a text, or the start and end of a range copied from the previous view's text.
 * @property {"change"} type
 * @property {(string | [number, number])[]} parts
 *
 * @typedef {View | PositionEvaluation | Explained | Lesson | PracticeState | Graded | ClockState
 *   | {type: "taught", number: number, action: number, regret: number, hint: string} | {type: "rules", sections: Section[]} | {type: "not_evaluated", number: number, message: string} | {type: "clock", seconds: number}
 *   | {type: "pong"} | {type: "done", once: string}
 *   | {type: "error", message: string} | {type: "refused", message: string}} FromServer
 *
 * @typedef {({type: "sit", key?: string, token?: string}
 *   | {type: "decide", number: number, action: number, more?: number[]}
 *   | {type: "undo", number: number, to: number}
 *   | {type: "takeback", number: number, to: number}
 *   | {type: "look", seat: number}
 *   | {type: "pace", milliseconds: number}
 *   | {type: "evaluate", number: number, deeper: number}
 *   | {type: "explain", spot: string, number: number} | {type: "rules"} | {type: "lesson"}
 *   | {type: "teach", number: number, action: number} | {type: "next"}
 *   | {type: "cancel"} | {type: "ping"}
 *   | {type: "stop"} | {type: "go"}) & {once?: string}} ToServer  The server handles messages with the same id `once` only once.
 *
 * @typedef {object} Game  A game that can be played in a browser.
 * @property {string} name
 * @property {string} title
 * @property {number[]} players
 * @property {{player: string, label: string, says: string}[]} levels
 * @property {string[]} others
 * @property {{player: string, label: string}[]} own  Players from installed packages, and networks in the data folder.
 * @property {string} substitute  The player that plays the rest of a turn after a person's time has run out.
 * @property {boolean} lesson  Whether there is a guided game.
 * @property {{player: string, says: string, rating: number | null, low: number | null, high: number | null, games: number | null}[]} scale
 *   The levels by rating, weakest first.
 * @property {{name: string, label: string, says: string, type: "flag" | "several" | "one", choices: string[]}[]} options
 *
 * @typedef {object} Listed  A saved table.
 * @property {string} table
 * @property {string} title
 * @property {number} made  Seconds since 1970.
 * @property {string} game
 * @property {{name: string, player: string}[]} seats
 * @property {number} decisions
 * @property {boolean} links
 * @property {boolean} over  Whether the game is over.
 * @property {boolean} from_position  Whether the game starts from a position, so that it cannot be analyzed.
 *
 * @typedef {object} Place  A span of an uploaded text.
 * @property {number} start  Index of the first character.
 * @property {number} end
 * @property {number} line  From 1.
 * @property {number} column
 *
 * @typedef {{kind: "position", game: string, players: number}
 *   | {kind: "records", count: number, games: Brought[]}} Found  The contents of an upload.
 *
 * @typedef {object} Brought  A game in an upload.
 * @property {number} number  From 1.
 * @property {string} game
 * @property {string[]} players
 * @property {number[] | null} scores
 * @property {number} decisions
 *
 * @typedef {object} SavedRecord  A saved game or position.
 * @property {string} record
 * @property {string} title
 * @property {number} made  Seconds since 1970.
 * @property {number | null} decisions  Number of actions; null for a position.
 *
 * @typedef {object} Position
 * @property {string} svg
 * @property {number[]} scores
 * @property {number} seat  The seat to move.
 * @property {string} phase
 * @property {number} round
 * @property {boolean} done
 *
 * @typedef {{record: string, title: string, game: string, evaluators: string[]}
 *   & ({kind: "position", position: Position} | {kind: "record", animation: any, players: string[], to_move: number | null})} Study
 *   A game has an animation for the viewer and the seat to move at the end, which is null if the game is over.
 *
 * @typedef {object} EvaluationProgress  The progress of an evaluation.
 * @property {string} evaluator
 * @property {"running" | "failed" | "done" | "stopped"} state
 * @property {number} done
 * @property {number} total
 * @property {string} problem
 * @property {any} evaluation  Data for the game viewer, or a PositionEvaluation for a position; null until the evaluation is complete.
 */

export {};
