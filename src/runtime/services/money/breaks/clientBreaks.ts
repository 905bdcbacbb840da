/**
 * Breaks of one client that a decision opens in that client's turn: they pause its withdrawals, but not its orders
 * (A3-11, A2-103).
 */
import { formatAmount } from "../../../../machines/shared/Money.ts"
import { start } from "../../../effects/advance.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"

interface Whose {
  readonly partnerId: number
  readonly clientId: number
}

/** Stands for an amount that is not known, micro-USDC: a break is never zero. */
const leastAmount = 1n

/**
 * Opens a break of `difference` micro-USDC and returns its id. Zero: the difference has no known value, because a price is
 * missing; the least amount stands for it, so that the break still pauses money out.
 */
export const breakOfClient = (
  turn: Turn,
  { partnerId, clientId }: Whose,
  difference: bigint,
  reason: string,
  pausesMoneyOut = true
): number => {
  const id = turn.nextId("reconBreak")
  const most = 2n ** 63n - 1n
  const known = difference === 0n ? leastAmount : difference
  // The amount from the venue may exceed the column, so it is cut to the column's range.
  const amount = known > most ? most : known < -most ? -most : known
  const of = { scope: "CLIENT", partnerId, clientId, currency: "USDC" } as const
  start(turn, "reconBreaks", {
    input: {
      breakId: id,
      ...of,
      amount: formatAmount(amount, "USDC"),
      pausesMoneyOut,
      reason,
      openedAt: turn.now
    },
    columns: { id, ...of, amount, openedAt: turn.now }
  })
  return id
}

/** The break that this turn opened last; null: none. */
export const openedBreak = ({ draft }: Turn): number | null => draft.written("reconBreaks").at(-1)?.id ?? null
