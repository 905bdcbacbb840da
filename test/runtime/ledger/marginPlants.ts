/**
 * Contradictory close-outs and write-offs, planted in the database: for each, the check of `ledger verify` that finds
 * it.
 */
import { client1, fill, id, noFill, noOrder, noPosition, order, position } from "./orderPlants.ts"

const episode = (context: object, state = "DONE", partner = client1) =>
  `INSERT INTO close_outs VALUES (${id}, ${partner}, 1, '${state}', '1', '${JSON.stringify({ writtenOff: "0.000000", orders: 0, ...context })}', 1, 2)`
/**
 * An episode that wrote off 5 micro-USDC, of which this much is not repaid. Withdrawals and swaps below the planted id stand
 * behind it.
 */
const owing = (unrepaid = 5, context: object = {}) =>
  `${episode({ writtenOff: "0.000005", repaid: "0.000000", repayments: 0, behind: { requestId: id, swapId: id }, ...context })}; UPDATE close_outs SET unrepaid = ${unrepaid} WHERE id = ${id}`
const noEpisode = `DELETE FROM close_outs WHERE id = ${id}`
const monitor = (state: string) => `INSERT INTO risk_monitors VALUES (1, ${client1}, '${state}', '1', '{}')`
const noMonitor = "DELETE FROM risk_monitors WHERE client_id = 1"
/** A write-off of the client without any other bookings. */
const writeOff = (amount = 5, ts = 10) =>
  `INSERT INTO ledger_transactions VALUES (${id}, 'nbp:${id}', 'NBP_WRITEOFF', 'system:risk', NULL, 1, ${client1}, '{}', ${ts}); INSERT INTO postings VALUES (${id}, ${id}, 'client:1', 1, ${client1}, 'USDC', 'cash', ${amount})`
/** Another transaction of the client's cash, booked after the write-off. */
const moved = (key: string, type: string, refs: object, amount: number, tx = id + 1) =>
  `INSERT INTO ledger_transactions VALUES (${tx}, '${key}', '${type}', 'system:risk', NULL, 1, ${client1}, '${JSON.stringify(refs)}', 11); INSERT INTO postings VALUES (${tx}, ${tx}, 'client:1', 1, ${client1}, 'USDC', 'cash', ${amount})`
const notMoved = `DELETE FROM postings WHERE tx_id > ${id}; DELETE FROM ledger_transactions WHERE tx_id > ${id}`
/** A swap's payment, and the part of it that repaid the write-off. */
const came = (amount: number, swapId = 7) => moved("planted:came", "SWAP_SETTLE", { swapId }, amount)
const repaid = (amount: number, swapId = 7) => moved(`nbp:${id}:1`, "NBP_WRITEOFF", { swapId }, -amount, id + 2)
const noWriteOff = `DELETE FROM postings WHERE tx_id = ${id}; DELETE FROM ledger_transactions WHERE tx_id = ${id}`
/** Takes the client's cash at that point, so that the write-off leaves zero. */
const allOfIt = `UPDATE postings SET amount = 5 - (SELECT sum(amount) FROM postings WHERE client_id = 1 AND currency = 'USDC' AND kind = 'cash') WHERE tx_id = ${id}`
const inDebt = "UPDATE balances SET cash = cash - 1000000000000 WHERE client_id = 1 AND currency = 'USDC'"
const noDebt = "UPDATE balances SET cash = cash + 1000000000000 WHERE client_id = 1 AND currency = 'USDC'"
const restricted = (word: string) =>
  `UPDATE clients SET context = jsonb_set(context::jsonb, '{restrictions}', '[${word}]')::json WHERE id = 1`
const closing = { origin: "CLOSE_OUT", note: `CO-${id}`, reduceOnly: true }
/** The commission of the planted fill, booked before the write-off. */
const charged = `INSERT INTO ledger_transactions VALUES (${id - 1}, 'commission:${id}:70', 'COMMISSION', 'system:venue', NULL, 1, ${client1}, '{}', 1)`
const notCharged = `DELETE FROM ledger_transactions WHERE tx_id = ${id - 1}`
const decided = (decision: string, at: number) =>
  `INSERT INTO decisions VALUES (${id}, ${client1}, 1, '${decision}', 'planted', 'ADMIN', ${at})`
const noDecision = `DELETE FROM decisions WHERE id = ${id}`

/** The plants by the name of the check that finds them. */
export const marginPlants: Readonly<Record<string, readonly [plant: string, undo: string]>> = {
  "every write-off posting has the amount that its close-out shows": [episode({ writtenOff: "5.000000" }), noEpisode],
  "every close-out belongs to its client's partner": [episode({}, "DONE", "999"), noEpisode],
  "every close-out shows its write-off, repayments and remainder as booked": [owing(4), noEpisode],
  "every write-off repayment is covered by returns of an older withdrawal or swap": [
    `${owing()}; ${came(3)}; ${repaid(4)}`,
    `${notMoved}; ${noEpisode}`
  ],
  "while a write-off is unrepaid, its client keeps no returns of an older withdrawal or swap": [
    `${owing()}; ${writeOff()}; ${came(3)}; ${repaid(2)}`,
    `${notMoved}; ${noWriteOff}; ${noEpisode}`
  ],
  "every write-off leaves its client with zero cash": [writeOff(), noWriteOff],
  "no write-off is booked while its client has a position": [
    `${order({})}; ${fill()}; ${charged}; ${writeOff()}`,
    `${noWriteOff}; ${notCharged}; ${noFill}; ${noOrder}`
  ],
  "every write-off belongs to a client that was RETAIL at the time": [
    `${writeOff()}; ${decided("CATEGORIZED_RETAIL", 11)}`,
    `${noDecision}; ${noWriteOff}`
  ],
  "no RETAIL client has negative cash without an open position, contract or close-out": [
    `${monitor("NORMAL")}; ${inDebt}`,
    `${noDebt}; ${noMonitor}`
  ],
  "the restriction CLOSE_OUT exists only while its client's risk state is not NORMAL": [
    `${monitor("NORMAL")}; ${restricted('"CLOSE_OUT"')}`,
    `${restricted("")}; ${noMonitor}`
  ],
  "every close-out order is reduce-only and counted by its client's close-out": [order({ context: closing }), noOrder],
  "every trade of a reduce-only order reduces its position without reversing it": [
    `${order({ context: { reduceOnly: true } })}; ${fill()}`,
    `${noOrder}; ${noFill}`
  ]
}

const longFill = fill({ id: id - 1, order_id: id - 1, trade_id: 69, qty: "'0.4000'" })
const noLongFill = `DELETE FROM fills WHERE id = ${id - 1}`

/** Further plants of the same checks: name of the check, the fault, how it is planted and undone. */
export const moreMarginPlants: ReadonlyArray<readonly [check: string, what: string, plant: string, undo: string]> = [
  [
    "every close-out shows its",
    "a repayment that its episode does not know",
    `${owing()}; ${came(3)}; ${repaid(3)}`,
    `${notMoved}; ${noEpisode}`
  ],
  [
    "every write-off repayment is",
    "a swap that is younger than the write-off",
    `${owing()}; ${came(3, id)}; ${repaid(3, id)}`,
    `${notMoved}; ${noEpisode}`
  ],
  [
    "every close-out order is",
    "one that could open",
    `${episode({ orders: 1 })}; ${order({ context: { ...closing, reduceOnly: false } })}`,
    `${noOrder}; ${noEpisode}`
  ],
  [
    "every close-out order is",
    "an episode that tells of none",
    `${episode({})}; ${order({ context: closing })}`,
    `${noOrder}; ${noEpisode}`
  ],
  [
    "every trade of a",
    "one that turns",
    `${order({ context: { reduceOnly: true, side: "SELL" } })}; ${longFill}; ${fill({ side: "'SELL'" })}`,
    `${noOrder}; ${noFill}; ${noLongFill}`
  ],
  [
    "every trade of a",
    "one of a close-out that is not said to",
    `${order({ context: { ...closing, reduceOnly: false } })}; ${fill()}`,
    `${noOrder}; ${noFill}`
  ],
  [
    "no RETAIL client has",
    "an episode that has ended",
    `${monitor("CLOSE_OUT")}; ${episode({})}; ${inDebt}`,
    `${noDebt}; ${noEpisode}; ${noMonitor}`
  ],
  [
    "every write-off belongs to a client that was RETAIL at the time",
    "one that is PROFESSIONAL since before it",
    `${writeOff()}; ${decided("CATEGORIZED_PROFESSIONAL", 9)}; UPDATE clients SET categorization = 'PROFESSIONAL' WHERE id = 1`,
    `UPDATE clients SET categorization = 'RETAIL' WHERE id = 1; ${noDecision}; ${noWriteOff}`
  ]
]

/** Plants that these checks must not find: name of the check, the reason, how they are planted and undone. */
export const rightMargins: ReadonlyArray<readonly [check: string, why: string, plant: string, undo: string]> = [
  [
    "every trade of a",
    "it reduced at the venue, though it is booked first",
    `${order({ context: { reduceOnly: true, side: "SELL" } })}; ${fill({ side: "'SELL'", id: id - 2 })}; ${fill({ id: id - 1, order_id: id - 1, trade_id: 69 })}`,
    `${noOrder}; DELETE FROM fills WHERE id >= ${id - 2}`
  ],
  [
    "no RETAIL client has",
    "its close-out goes on",
    `${monitor("CLOSE_OUT")}; ${episode({}, "PROTECTING")}; ${inDebt}`,
    `${noDebt}; ${noEpisode}; ${noMonitor}`
  ],
  [
    "no RETAIL client has",
    "a position is open",
    `${monitor("CLOSE_OUT")}; ${position("OPEN", "0.5000")}; ${inDebt}`,
    `${noDebt}; ${noPosition}; ${noMonitor}`
  ],
  [
    "the restriction CLOSE_OUT",
    "the client is in a margin call",
    `${monitor("MARGIN_CALL")}; ${restricted('"CLOSE_OUT"')}`,
    `${restricted("")}; ${noMonitor}`
  ],
  [
    "every close-out shows its",
    "it is repaid in part, and the episode says so",
    `${owing(2, { repaid: "0.000003", repayments: 1 })}; ${came(3)}; ${repaid(3)}`,
    `${notMoved}; ${noEpisode}`
  ],
  [
    "every write-off repayment is",
    "a charge has taken the rest",
    `${owing()}; ${came(3)}; ${repaid(2)}`,
    `${notMoved}; ${noEpisode}`
  ],
  [
    "while a write-off is",
    "all that came has repaid",
    `${owing()}; ${writeOff()}; ${came(3)}; ${repaid(3)}`,
    `${notMoved}; ${noWriteOff}; ${noEpisode}`
  ],
  [
    "while a write-off is",
    "what came is of a younger swap",
    `${owing()}; ${writeOff()}; ${came(3, id)}`,
    `${notMoved}; ${noWriteOff}; ${noEpisode}`
  ],
  ["every write-off leaves its client", "it leaves nothing", `${writeOff()}; ${allOfIt}`, noWriteOff],
  [
    "every write-off belongs to a client that was RETAIL at the time",
    "the client became PROFESSIONAL afterwards",
    `${writeOff()}; ${decided("CATEGORIZED_PROFESSIONAL", 11)}; UPDATE clients SET categorization = 'PROFESSIONAL' WHERE id = 1`,
    `UPDATE clients SET categorization = 'RETAIL' WHERE id = 1; ${noDecision}; ${noWriteOff}`
  ],
  [
    "every close-out order is",
    "it is the one that its episode tells of",
    `${episode({ orders: 1 })}; ${order({ context: closing })}`,
    `${noOrder}; ${noEpisode}`
  ]
]
