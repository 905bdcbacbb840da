/**
 * The machines that a simulation drives, by the states of the written rows, and the invariant that checks each machine.
 * A machine of the registry without an invariant does not compile; the test names each machine that no run drives.
 */
import type { AnyStateMachine } from "xstate"
import { type Kind, kinds, machines } from "../../src/machines/registry.ts"
import type { HandlerName } from "../../src/machines/timerNames.ts"
import type { Invariant } from "./Findings.ts"

/** The invariant that checks each machine. The lists of mutations contain faults that break it. */
export const invariantOf: { readonly [K in Kind]: Invariant } = {
  partner: "barred",
  reliance: "barred",
  apiKey: "barred",
  client: "review",
  kycPackage: "revisions",
  verificationBlock: "level",
  assessment: "level",
  case: "review",
  approval: "four-eyes",
  watchImport: "lists",
  screeningPass: "screening",
  depositNotice: "deposits",
  collateralReport: "rules",
  settlementItem: "settlement-item",
  withdrawalRequest: "withdrawals",
  reconBreak: "breaks",
  statement: "statements",
  venueProbe: "venue",
  venueMisfit: "venue",
  rfq: "accepts",
  barrierContract: "contracts",
  order: "orders",
  swap: "swaps",
  attachment: "orders",
  riskMonitor: "margin",
  closeOut: "episodes",
  tradingHalt: "timers",
  webhookEndpoint: "signature",
  webhookDelivery: "delivered"
}

/** Events between the service and the venue: faults, and how the service reacts. */
export const venuePaths = [
  "call late",
  "call lost",
  "answer lost",
  "venue silent",
  "call refused",
  "lookup lags",
  "event dropped",
  "event late",
  "event doubled",
  "event unreadable",
  "event absurd",
  "event lies",
  "answer lies",
  "events gone",
  "funding said",
  "stream cut",
  "venue restarted",
  "time jumps during a call",
  "end known by an answer",
  "end known by an event",
  "call voided",
  "gap passed",
  "events folded"
] as const
export type VenuePath = (typeof venuePaths)[number]

/** Events of accounts when their markets move (F7, F9, F10; D23). */
export const marginPaths = [
  "margin call",
  "episode begun",
  "episode recovered",
  "episode over",
  "written off",
  "write-off repaid",
  "torn up",
  "waited for a market",
  "closed in slices",
  "a fill joined an episode",
  "money came in an episode",
  "contracts beside positions"
] as const
export type MarginPath = (typeof marginPaths)[number]

/**
 * True if a durable timer fires in a simulation; otherwise the reason why it does not. A timer without an entry does
 * not compile.
 */
export const timersFired: { readonly [N in HandlerName]: true | string } = {
  "appropriateness.retake": true,
  "identification.expiry": true,
  "identityCheck.expiry": true,
  "rfq.window": true,
  "contract.expirySoon": true,
  "contract.overdue": "the venue ends a contract at its expiry; test/operator/venueComparison.test.ts",
  "order.ask":
    "a question of an order that is over ends long before, unless the process dies with it; test/runtime/order/statusQueries.test.ts",
  "order.bound": "the venue refuses another bound in few runs; test/machines/transitions.test.ts",
  "order.cancel":
    "what has nothing left to reduce is refused its cancel in few runs; test/runtime/order/statusQueries.test.ts",
  "order.protect":
    "the venue refuses an attached leg in few runs; test/runtime/order/protectionHistories.test.ts, test/scenarios/objectTimers.test.ts",
  "swap.release": true,
  "swap.overdue": "a writer says by itself that it is short; test/scenarios/staking.test.ts",
  "funding.held": "an account whose trades are missing before a stamp; test/runtime/funding/fundingBooking.test.ts",
  "venue.misfit": true,
  "screening.nightly": true,
  "halt.until": true,
  "documents.retention": "five years after the end of a client; test/operator/lifecycle.test.ts",
  "sandbox.credit": true,
  "sandbox.restrict": true,
  "sandbox.lift": true,
  "sandbox.clear": true,
  "sandbox.close": true,
  "sandbox.downgrade": true,
  "sandbox.rejectReliance": true,
  "sandbox.rejectPerson": true,
  "sandbox.requestDocuments": true
}

/** Steps of requests and contracts that no simulation takes, each with its reason. */
export const outOfReach: { readonly rfq: Steps; readonly barrierContract: Steps } = {
  rfq: {
    "CREATING ACCEPTED":
      "nothing of a request is accepted before the venue has confirmed it; test/machines/transitions.test.ts",
    "REJECTED ACCEPTED":
      "the venue never had what it rejects, so there is nothing to accept; test/machines/transitions.test.ts"
  },
  barrierContract: {}
}
type Steps = Readonly<Record<string, string>>

/** Counts the rows written for each machine in each state. */
export class Coverage {
  readonly counts = new Map<Kind, Map<string, number>>()
  /** The number of times that a durable timer fired, by its handler. */
  readonly timers = new Map<string, number>()
  /** Steps between two different states, by machine. */
  private readonly steps = new Map<Kind, Set<string>>()
  private readonly paths = new Set<VenuePath>()
  /** The number of times that each path was taken. */
  readonly margin = new Map<MarginPath, number>()

  note(kind: Kind, state: string): void {
    const states = this.counts.get(kind) ?? new Map<string, number>()
    this.counts.set(kind, states.set(state, (states.get(state) ?? 0) + 1))
  }

  /** Records a step of a row from one state to another. */
  stepped(kind: Kind, before: string, after: string): void {
    const steps = this.steps.get(kind) ?? new Set<string>()
    this.steps.set(kind, steps.add(`${before} ${after}`))
  }

  fired(handler: string): void {
    this.timers.set(handler, (this.timers.get(handler) ?? 0) + 1)
  }

  took(path: VenuePath): void {
    this.paths.add(path)
  }

  came(path: MarginPath): void {
    this.margin.set(path, (this.margin.get(path) ?? 0) + 1)
  }

  /** Merges another run: counts are summed, sets united. */
  add(other: Coverage): void {
    for (const [path, times] of other.margin) this.margin.set(path, (this.margin.get(path) ?? 0) + times)
    for (const path of other.paths) this.paths.add(path)
    for (const [kind, steps] of other.steps) {
      for (const step of steps) this.steps.set(kind, (this.steps.get(kind) ?? new Set()).add(step))
    }
    for (const [name, times] of other.timers) this.timers.set(name, (this.timers.get(name) ?? 0) + times)
    for (const [kind, states] of other.counts) {
      for (const [state, times] of states) for (let n = 0; n < times; n++) this.note(kind, state)
    }
  }

  /** A sentence for each machine whose rows were written in fewer than two states: no run drives it. */
  undriven(registry: ReadonlyArray<Kind> = kinds): ReadonlyArray<string> {
    return registry.flatMap((kind) => {
      const states = [...(this.counts.get(kind)?.keys() ?? [])]
      if (states.length > 1) return []
      const seen = states.length === 0 ? "writes no row of it" : `leaves it ${states[0]}`
      return [
        `No simulated run drives the machine ${kind} (the workload ${seen}): give Workload or a desk a step for it.`
      ]
    })
  }

  /**
   * A sentence for each possible step of a request or contract that no run has taken, and for each step that is listed
   * as impossible and was taken.
   */
  unstepped(): ReadonlyArray<string> {
    return (["rfq", "barrierContract"] as const).flatMap((kind) => {
      const taken = this.steps.get(kind) ?? new Set()
      return stepsOf(kind).flatMap((step) => {
        if (taken.has(step) === !Object.hasOwn(outOfReach[kind], step)) return []
        return taken.has(step)
          ? [`A simulated run takes the step "${step}" of ${kind}, which is said to be out of reach: say so no more.`]
          : [
              `No simulated run takes the step "${step}" of ${kind}: let a desk take it, or say in outOfReach why it can't.`
            ]
      })
    })
  }

  /** A sentence for each path between service and venue that no run has taken. */
  untaken(): ReadonlyArray<string> {
    return venuePaths.flatMap((path) =>
      this.paths.has(path)
        ? []
        : [`No simulated run takes the path "${path}" of the venue: give VenueLane or Chaos a step for it.`]
    )
  }

  /** The number of times that each margin path was taken, as text. */
  get margins(): string {
    return marginPaths.map((path) => `${path} ${this.margin.get(path) ?? 0}`).join(", ")
  }

  /** A sentence for each margin path that no run has taken. */
  uncalled(): ReadonlyArray<string> {
    return marginPaths.flatMap((path) =>
      this.margin.has(path) ? [] : [`No simulated run comes to "${path}": let Falls or a desk bring it about.`]
    )
  }

  /** A sentence for each timer that should fire and did not. */
  unfired(): ReadonlyArray<string> {
    return Object.entries(timersFired).flatMap(([name, fires]) =>
      fires === true && !this.timers.has(name)
        ? [`The timer ${name} fires in no simulated run: let the workload set it, or say in timersFired why it can't.`]
        : []
    )
  }
}

/** The steps between two states, as the machine declares them. */
const stepsOf = (kind: "rfq" | "barrierContract"): ReadonlyArray<string> => {
  const { machine }: { readonly machine: AnyStateMachine } = machines[kind]
  const steps = Object.entries(machine.root.states).flatMap(([before, { transitions }]) =>
    [...transitions.values()].flat().flatMap(({ target }) => (target ?? []).map(({ key }) => `${before} ${key}`))
  )
  return [...new Set(steps)]
}
