/**
 * Rules for a change of a client's categorization, and its consequences for the account. The categorization determines the
 * leverage of the positions, and whether the client owes losses beyond the account. The operator reads the sentences (A2-88,
 * A2-102, F3, F7).
 */
import { formatAmount } from "../shared/Money.ts"
import { conflict, type Refusal } from "../shared/Refusal.ts"
import { type AccountRisk, graverOf, marginAfter, type RiskState, unjudged } from "./accountRisk.ts"

export interface Categorizing {
  readonly to: "RETAIL" | "PROFESSIONAL"
  /** The account's cash, micro-USDC. */
  readonly cash: bigint
  readonly episodeOpen: boolean
  readonly recorded: RiskState
  readonly before: AccountRisk
  /** The risk at the leverage of the new categorization. */
  readonly after: AccountRisk
  /** The consequences of the change, for the refusal. */
  readonly change: CategorizationChange
  /** Allows the change even if a retail account leaves NORMAL by it. */
  readonly force: boolean
}

/** An account before or after the change, at current marks: USDC with six places, percent with two. */
export interface AccountStanding {
  readonly equity: string
  readonly initialMargin: string
  readonly maintenanceMargin: string
  readonly freeMargin: string
  readonly marginLevel: string | null
  readonly riskState: RiskState
  readonly marksFresh: boolean
}

/** One market: the leverage in force, and the margin of position and orders at it, USDC. */
export interface LeverageMoved {
  readonly symbol: string
  readonly leverageBefore: number
  readonly leverageAfter: number
  readonly marginBefore: string
  readonly marginAfter: string
}

/** The effect of another categorization on the account. */
export interface CategorizationChange {
  readonly before: AccountStanding
  readonly after: AccountStanding
  /** Each market with a position, a working order or a chosen leverage. */
  readonly leverage: ReadonlyArray<LeverageMoved>
  /** The process that the change begins in the same commit. */
  readonly follows: CategorizationFollows
}
export const categorizationFollows = ["NOTHING", "MARGIN_CALL", "CLOSE_OUT"] as const
export type CategorizationFollows = (typeof categorizationFollows)[number]

export interface Changing {
  readonly recorded: RiskState
  /** The risk state to record after the change. */
  readonly toRecord: RiskState
  readonly before: AccountRisk
  readonly after: AccountRisk
  /** The leverage in force in each market with a position, a working order or a chosen leverage. */
  readonly leverage: ReadonlyArray<{ readonly symbol: string; readonly before: number; readonly after: number }>
}

export const categorizationChange = ({
  recorded,
  toRecord,
  before,
  after,
  leverage
}: Changing): CategorizationChange => ({
  before: standingOf(before),
  after: standingOf(after),
  leverage: leverage.map((moved) => ({
    symbol: moved.symbol,
    leverageBefore: moved.before,
    leverageAfter: moved.after,
    marginBefore: tiedUpIn(before, moved.symbol),
    marginAfter: tiedUpIn(after, moved.symbol)
  })),
  follows: toRecord === recorded || toRecord === "NORMAL" ? "NOTHING" : toRecord
})

const standingOf = (risk: AccountRisk): AccountStanding => ({
  equity: formatAmount(risk.equity, "USDC"),
  initialMargin: formatAmount(risk.initialMargin, "USDC"),
  maintenanceMargin: formatAmount(risk.maintenanceMargin, "USDC"),
  freeMargin: formatAmount(risk.freeMargin, "USDC"),
  marginLevel: risk.marginLevel,
  riskState: risk.riskState,
  marksFresh: risk.marksFresh
})

const tiedUpIn = ({ perps }: AccountRisk, symbol: string): string => {
  const part = perps.find(({ holding }) => holding.symbol === symbol)
  return formatAmount(part === undefined ? 0n : part.initialMargin + part.orderMargin, "USDC")
}

/**
 * The reason that the change is refused, or null. Protection of retail clients covers future losses only: debts and a
 * close-out must be resolved first, even with `force`.
 */
export const categorizationRefusal = (facts: Categorizing): Refusal | null =>
  facts.to === "RETAIL" ? toRetail(facts) : toProfessional(facts)

const toRetail = ({ cash, episodeOpen, after, change, force }: Categorizing): Refusal | null => {
  if (cash < 0n)
    return conflict(
      "OWES_MONEY",
      `The client owes ${formatAmount(-cash, "USDC")} USDC, which must be settled before it becomes RETAIL.`
    )
  if (episodeOpen)
    return conflict("OPEN_CLOSE_OUT", "The account is being closed out, so its categorization can't be changed.")
  if (force) return null
  if (unjudged(after))
    return conflict(
      "PRICES_STALE",
      "The account can't be judged without live prices: try again shortly, or with --force.",
      {
        ...consequences(after, change)
      }
    )
  if (after.riskState === "NORMAL") return null
  return conflict(
    "NOT_NORMAL",
    `The account would be in ${after.riskState} as RETAIL: --force applies it all the same.`,
    {
      ...consequences(after, change)
    }
  )
}

const consequences = (after: AccountRisk, { before, after: standing, leverage, follows }: CategorizationChange) => ({
  ...marginAfter(after),
  change: { before: { ...before }, after: { ...standing }, leverage: leverage.map((moved) => ({ ...moved })), follows }
})

const toProfessional = ({ recorded, before }: Categorizing): Refusal | null => {
  const state = graverOf(recorded, before.riskState)
  return state === "NORMAL"
    ? null
    : conflict("NOT_NORMAL", `The account is in ${state}: a client becomes PROFESSIONAL only while it is NORMAL.`)
}
