/**
 * The subscriptions to committed rows and to the end of a turn, all in one place: each table with its listeners, the listeners
 * of ended venue calls, and the policies of a turn, each in the order in which they run. Services may start in any order, or
 * later; the lists alone give the order. Each name is the name of the file that subscribes.
 */
import type { ActorHost, Turn } from "./engine/mailbox/ActorHost.ts"
import type { EndListener, RowListener } from "./engine/mailbox/CommittedRows.ts"
import type { TableName } from "./tables/Catalogue.ts"

/**
 * The listeners of each table. They run after COMMIT and before the answer: first the projections that turns and requests
 * read, then the workers that only wake.
 */
export const subscriptions = {
  apiKeys: ["Directory"],
  attachments: ["layerProtection"],
  balances: ["RiskWatch"],
  barrierContracts: ["RiskWatch", "NearLevels", "VenueComparison"],
  cases: ["openCases"],
  clients: ["RiskWatch", "PersonWatch", "OpeningWatch"],
  closeOuts: ["RiskMonitor"],
  leverages: ["RiskWatch"],
  lossNotices: ["RiskWatch"],
  openFundings: ["VenueComparison"],
  operatorKeys: ["Directory"],
  orders: ["RiskWatch", "RiskMonitor", "OpeningWatch"],
  partners: ["Directory", "ClosedDeliveries", "OpeningWatch"],
  positions: ["RiskWatch"],
  questionnaires: ["Questionnaires"],
  reconBreaks: ["Breaks"],
  reliances: ["Directory"],
  rfqs: ["AutoAccept", "OpeningWatch"],
  riskMonitors: ["RiskStates", "RiskWatch"],
  screeningPasses: ["PassDemand"],
  screeningRuns: ["PassDemand"],
  swaps: ["VenueComparison"],
  timers: ["Timers", "OrderResync", "ClockWalk"],
  tradingHalts: ["MarketHalts", "OpeningWatch"],
  venueCalls: ["VenueCalls"],
  venueMisfits: ["layerMisfitReads"],
  venueQuarantine: ["VenueComparison"],
  watchEntries: ["Screening", "PassDemand"],
  watchImports: ["Screening", "PassDemand"],
  webhookDeliveries: ["DeliveryWorker"],
  webhookEndpoints: ["Directory", "FeedSweep", "DeliveryWorker"]
} as const satisfies { readonly [T in TableName]?: ReadonlyArray<string> }

/** The listeners of venue calls that a commit has ended. They run after those of the commit's rows. */
export const endedCalls = ["VenueCalls"] as const

/**
 * The policies that end each turn that writes, in the same commit. A later policy sees the rows of the earlier ones: risk is
 * evaluated with the orders that protection has placed or cancelled.
 */
export const policies = ["layerProtection", "RiskMonitor"] as const

type Subscriptions = typeof subscriptions
type Table = keyof Subscriptions
export type Subscriber = Subscriptions[Table][number]

/** One listener for each table that lists the subscriber. */
export type ListenersOf<Name extends Subscriber> = {
  readonly [T in Table as Name extends Subscriptions[T][number] ? T : never]: RowListener<T>
}

/** Adds the subscriber's listeners for committed rows, each at its place in the list of its table. */
export const subscribe = <Name extends Subscriber>(
  host: Pick<ActorHost["Service"], "onCommitted">,
  name: Name,
  listeners: ListenersOf<Name>
): void => {
  for (const [table, listener] of Object.entries(listeners) as ReadonlyArray<[Table, RowListener<Table>]>)
    host.onCommitted(table, listener, (subscriptions[table] as ReadonlyArray<string>).indexOf(name))
}

/** Adds the subscriber's listener for the refs of venue calls that a commit ends, at its place in the list. */
export const subscribeToEndedCalls = (
  host: Pick<ActorHost["Service"], "onCallEnded">,
  name: (typeof endedCalls)[number],
  listener: EndListener
): void => host.onCallEnded(listener, endedCalls.indexOf(name))

/** Runs the policy at the end of every turn that writes, at its place of the list. */
export const enforce = (
  host: Pick<ActorHost["Service"], "onDecided">,
  name: (typeof policies)[number],
  policy: (turn: Turn) => void
): void => host.onDecided(policy, policies.indexOf(name))
