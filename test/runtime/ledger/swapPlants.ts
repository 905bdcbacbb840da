/**
 * Staking swaps that contradict their books, planted in the database: for each, the check of `ledger verify` that finds
 * it.
 */
import { client1, id } from "./orderPlants.ts"

interface Planted {
  readonly swap?: number
  readonly partner?: string
  readonly state?: string
  readonly amount?: number
  readonly fee?: number
  readonly contract?: number | null
}

const context = JSON.stringify({
  notional: "10.000000",
  reward: "0.100000",
  estimatedFee: "0.010000",
  paid: "0",
  writtenOff: "0",
  recovered: "0",
  commissionRewardBps: 1_000,
  payments: []
})
/** A swap that was never taken, without bookings. */
const swap = ({
  swap: number = id,
  partner = client1,
  state = "REJECTED",
  amount = 10_000_000,
  fee = 10_000,
  contract = null
}: Planted = {}): string =>
  `INSERT INTO swaps VALUES (${number}, ${partner}, 1, '${state}', '1', '${context}', 'USDC-SWAP', 'USDC', ${amount}, 100000, ${fee},
     0, 0, 0, ${contract ?? "NULL"}, NULL, NULL, NULL, 1)`
const noSwap = `DELETE FROM swaps WHERE id >= ${id - 1}`

/** The plants by the name of the check that finds them. */
export const swapPlants: Readonly<Record<string, readonly [plant: string, undo: string]>> = {
  "every taken swap has one principal posting, and every writer payment has one posting": [
    swap({ state: "OPEN", contract: 9 }),
    noSwap
  ],
  "every ACCEPTING swap's hold equals its reserved postings, and any other swap holds nothing": [
    swap({ state: "ACCEPTING" }),
    noSwap
  ],
  "every swap is charged exactly the venue's fee and the service's share of the received reward": [
    swap({ fee: 10_001 }),
    noSwap
  ],
  "every swap shows its booked figures, which add up to its expected payout, and only a defaulted swap has a claim": [
    swap({ amount: 10_000_001 }),
    noSwap
  ],
  "every venue contract belongs to at most one swap of its client": [
    `${swap({ state: "OPEN", contract: 9 })}; ${swap({ swap: id - 1, state: "OPEN", contract: 9 })}`,
    noSwap
  ],
  "every staking swap belongs to its client's partner": [swap({ partner: "999" }), noSwap]
}
