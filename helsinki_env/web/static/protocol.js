/**
 * What server and pages say to each other, as types; there is nothing here to run.
 *
 * @typedef {object} Decision  A legal decision (helsinki_env/engine/ui_actions.py says what the fields mean).
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
 * @property {boolean} ends  It ends the turn.
 * @property {boolean} reveals  It shows what was hidden, so that it cannot be undone.
 *
 * @typedef {Decision & {most: number, part: number}} Item  What can be chosen together with others, `most` times.
 *
 * @typedef {object} Selection  Decisions that are chosen in any order (helsinki_env/engine/ui_actions.py says more).
 * @property {string} kind
 * @property {number[]} counts  How many of each part.
 * @property {Item[]} items
 * @property {[number, number, boolean][] | null} pairs  If not all go together: which do, and whether with `between`.
 * @property {Decision | null} between
 * @property {boolean} ends  They end the turn.
 * @property {boolean} reveals  They show what was hidden.
 *
 * @typedef {[number, number, number, number]} Box  x, y, width and height in pixels of the picture.
 *
 * @typedef {object} Chair
 * @property {string} name
 * @property {string} player
 * @property {boolean} human
 * @property {number} score
 * @property {number} place  How many did better.
 * @property {boolean} to_move
 *
 * @typedef {object} Taken  A decision that was taken; `turn` counts how often the seat to move had changed before it.
 * @property {number} number
 * @property {number} seat
 * @property {string} words
 * @property {number} turn
 *
 * @typedef {object} View  All that this browser shows of a table.
 * @property {"table"} type
 * @property {string} table
 * @property {string} name
 * @property {string} game
 * @property {number} number  How many decisions were taken.
 * @property {number} seat  Who is to move.
 * @property {string} phase
 * @property {boolean} done
 * @property {number[]} mine  The seats that this browser plays.
 * @property {number | null} viewer
 * @property {number | null} curtain  Whose player must take the device before anything is shown.
 * @property {string} svg
 * @property {[number, number]} size
 * @property {Record<string, Box>} spots
 * @property {Decision[]} decisions
 * @property {Selection | null} selection  What can be chosen in any order.
 * @property {{number: number, seat: number, words: string, kind: string}[]} turn
 * @property {number | null} undo  The first decision that can be undone.
 * @property {number[]} takeback
 * @property {{seat: number, player: string, seconds: number} | null} thinking
 * @property {boolean} paused
 * @property {Chair[]} seats
 * @property {Taken[]} log
 * @property {string | null} message
 *
 * @typedef {object} Opinion  What the network thinks of what the seat to move may do.
 * @property {"opinion"} type
 * @property {number} number  How many decisions had been taken.
 * @property {string} judge
 * @property {number} deeper  How many trials it was tried by; 0: by none.
 * @property {number} seat
 * @property {number[]} shares  Every seat's share of the win.
 * @property {{id: number, words: string, probability: number, share: number | null}[]} choices  The best one first.
 *
 * @typedef {object} Change  The next view, in parts: text, or start and end of what is copied from the last view's text.
 * @property {"change"} type
 * @property {(string | [number, number])[]} parts
 *
 * @typedef {View | Opinion | {type: "unjudged", number: number, message: string} | {type: "clock", seconds: number}
 *   | {type: "pong"} | {type: "done", once: string}
 *   | {type: "error", message: string} | {type: "refused", message: string}} FromServer
 *
 * @typedef {({type: "sit", key?: string, token?: string}
 *   | {type: "decide", number: number, action: number, more?: number[]}
 *   | {type: "undo", number: number, to: number}
 *   | {type: "takeback", number: number, to: number}
 *   | {type: "look", seat: number}
 *   | {type: "pace", milliseconds: number}
 *   | {type: "judge", number: number, deeper: number}
 *   | {type: "cancel"} | {type: "ping"}
 *   | {type: "stop"} | {type: "go"}) & {once?: string}} ToServer  What has a name, `once`, is carried out once.
 *
 * @typedef {object} Game  A game that can be played here.
 * @property {string} name
 * @property {string} title
 * @property {number[]} players
 * @property {{player: string, label: string, says: string}[]} levels
 * @property {string[]} others
 * @property {{name: string, label: string, says: string, type: "flag" | "several" | "one", choices: string[]}[]} options
 *
 * @typedef {object} Listed  A table that is kept.
 * @property {string} table
 * @property {string} title
 * @property {number} made  Seconds since 1970.
 * @property {string} game
 * @property {{name: string, player: string}[]} seats
 * @property {number} decisions
 * @property {boolean} links
 * @property {boolean} over  The game is over.
 *
 * @typedef {object} Place  A piece of a text that was sent.
 * @property {number} start  Its first character, from 0.
 * @property {number} end
 * @property {number} line  From 1.
 * @property {number} column
 *
 * @typedef {{kind: "position", game: string, players: number}
 *   | {kind: "records", count: number, games: Brought[]}} Found  What is in a file or a text.
 *
 * @typedef {object} Brought  A game in a file.
 * @property {number} number  From 1.
 * @property {string} game
 * @property {string[]} players
 * @property {number[] | null} scores
 * @property {number} decisions
 *
 * @typedef {object} Kept  A game or a position that is kept to be taken apart.
 * @property {string} record
 * @property {string} title
 * @property {number} made  Seconds since 1970.
 * @property {number | null} decisions  null: it is a position.
 *
 * @typedef {object} Position
 * @property {string} svg
 * @property {number[]} scores
 * @property {number} seat  Who is to move.
 * @property {string} phase
 * @property {number} round
 * @property {boolean} done
 *
 * @typedef {{record: string, title: string, game: string, judges: string[]}
 *   & ({kind: "position", position: Position} | {kind: "record", film: any, to_move: number | null})} Study
 *   A game has a film for the viewer, and the seat that is to move at its end, null if it is over.
 *
 * @typedef {object} Judging  How far a judge is with a game or position.
 * @property {string} judge
 * @property {"running" | "failed" | "done" | "stopped"} state
 * @property {number} done
 * @property {number} total
 * @property {string} problem
 * @property {any} judgement  Of a game for the viewer, of a position as Opinion; null until it is there.
 */

export {};
