/**
 * The history of one object through its machine. Audit rows become steps, with guards and effects from the machine's table.
 * Rows of another object become steps too when they describe a step of this one (a KYC package's row does so for its blocks),
 * and so do unaudited events (trades, payments, warnings, delivery attempts). The file also lists the possible next events,
 * with the actors that can trigger them (operator surface, machine inspect, atlas).
 */
import type { TableRow } from "../../../machines/describe.ts"
import { type StepTrigger, stepTriggersOf } from "../../../machines/stepTriggers.ts"
import { type Kind, machines } from "../../../machines/registry.ts"
import type { DeliveryTry } from "../../../machines/webhook/Webhook.ts"
import type { AuditEntry } from "../../../runtime/services/operations/operator/AuditTrail.ts"
import type { MachineInstance } from "../../../runtime/services/operations/operator/Inspect.ts"
import type { PathStep as Step } from "../../api/operator/MachineGroup.ts"
import type { OwnStep } from "../../../runtime/services/operations/operator/ownSteps.ts"
import { operatorCommands } from "../../api/operator/commands.ts"
import { operatorRoles } from "../../api/operator/operatorTokens.ts"
import { transitions } from "./machineTables.ts"

type PathStep = typeof Step.Type

export interface NextMove extends Pick<TableRow, "event" | "guard" | "effects"> {
  readonly to: string
  /** `secondKey`: the command is under four eyes, so another operator key has to grant it. */
  readonly movers: ReadonlyArray<StepTrigger & { readonly roles: ReadonlyArray<string>; readonly secondKey: boolean }>
}

type PathSource = Pick<MachineInstance, "kind" | "state" | "context" | "history" | "own" | "hasMore" | "isNewest">

/** The steps of a page of history, merged with unaudited steps of the same period, oldest first. */
export const pathOf = ({
  kind,
  state,
  context,
  history,
  own,
  hasMore,
  isNewest
}: PathSource): ReadonlyArray<PathStep> => {
  let here: string | null = null
  const steps = inOrder(history, own, hasMore).flatMap((item) => {
    const step = "audit" in item ? stepOf(kind, item.audit, here) : ownStepOf(kind, item.own, item.at, here)
    here = step?.to ?? here
    return step === null ? [] : [step]
  })
  const joint = steps.reduce<ReadonlyArray<PathStep>>(joined, [])
  const tries = kind === "webhookDelivery" ? triesOf(context) : []
  const way = chained(
    [...joint, ...tries].toSorted((a, b) => a.at - b.at),
    kind,
    state
  )
  return isNewest ? upTo(way, kind, state) : way
}

/** The one stored state in which all these rows start; null if there is no such state. */
const onlyFrom = (rows: ReadonlyArray<TableRow>): string | null => {
  const [from = "NEW", ...others] = [...new Set(rows.map((row) => row.from))]
  return others.length > 0 || from === "NEW" ? null : from
}

type InOrder = { readonly audit: AuditEntry } | { readonly own: OwnStep; readonly at: number }

/**
 * Sorts steps by time. At equal times, unaudited steps precede audit rows, except the row that begins the history. A step
 * without a time follows that first row.
 */
const inOrder = (
  history: ReadonlyArray<AuditEntry>,
  own: ReadonlyArray<OwnStep>,
  hasMore: boolean
): ReadonlyArray<InOrder> => {
  const [first] = history
  const placed = [
    ...history.map((audit) => ({ item: { audit }, at: audit.ts, rank: !hasMore && audit === first ? 0 : 3 })),
    ...own.map((step) => {
      const at = step.at ?? first?.ts ?? 0
      return { item: { own: step, at }, at, rank: step.at === null ? 1 : 2 }
    })
  ]
  return placed.toSorted((a, b) => a.at - b.at || a.rank - b.rank).map(({ item }) => item)
}

/**
 * The step of an unaudited event. Null when the machine does not take the event in the state of the preceding steps: another
 * row then covers it.
 */
const ownStepOf = (kind: Kind, { event, guard, reason }: OwnStep, at: number, here: string | null): PathStep | null => {
  const rows = transitions()[kind].filter(
    (row) => row.event === event && (here === null || row.from === here) && (guard === undefined || row.guard === guard)
  )
  const [row] = rows
  if (row === undefined) return null
  const targets = new Set(rows.map(({ from, to }) => (to === "=" ? from : to)))
  return {
    at,
    event,
    guard: here === null ? "" : row.guard,
    from: here,
    to: targets.size === 1 ? ([...targets][0] as string) : null,
    effects: row.effects.filter((effect) => rows.every(({ effects }) => effects.includes(effect))),
    actions: [],
    by: null,
    requestId: null,
    reason
  }
}

/** The events and target states of a block, by the action in other objects' audit rows (machineInstances.ts). */
const blockSteps: Readonly<Record<string, readonly [event: string, to: string]>> = {
  "kyc.store": ["PARTNER_WRITE", "APPROVED"],
  "kyc.revise": ["PARTNER_WRITE", "APPROVED"],
  "kyc.reonboard": ["PARTNER_WRITE", "APPROVED"],
  "client.mifid": ["PARTNER_WRITE", "APPROVED"],
  "kyc.rejectReliance": ["REJECT_RELIANCE", "REJECTED"]
}

/**
 * The state with which an audit row's before or after text begins; the text may continue (RESTRICTED NO_NEW_RISK). Null
 * without one.
 */
const stateIn = (kind: Kind, text: string | null): string | null => {
  const [name = ""] = (text ?? "").split(" ", 1)
  return Object.hasOwn(machines[kind].machine.root.states, name) ? name : null
}

/**
 * The table rows that an action may stand for, limited to those that its actor can trigger: an operator by the command with
 * the action's name, any other actor by events without a command. All rows when none is left.
 */
const possible = (kind: Kind, rows: ReadonlyArray<TableRow>, { action, role }: AuditEntry): ReadonlyArray<TableRow> => {
  const command = action.replaceAll(".", " ")
  const isOperator = operatorRoles.some((each) => each === role)
  const left = rows.filter(({ event }) =>
    stepTriggersOf(kind, event).some(({ by, does }) =>
      isOperator ? by === "operator" && does === command : by !== "operator"
    )
  )
  return left.length === 0 ? rows : left
}

/** The step of an audit row. `here` is the state after the preceding steps, for a row without states. */
const stepOf = (kind: Kind, entry: AuditEntry, here: string | null): PathStep => {
  const { ts, action, role, keyLabel, requestId, reason } = entry
  const [before, after] = [stateIn(kind, entry.before), stateIn(kind, entry.after)]
  const who = { by: `${role}/${keyLabel}`, requestId, reason }
  const block = kind === "verificationBlock" ? blockSteps[action] : undefined
  if (block !== undefined) {
    const [event, to] = block
    return { at: ts, event, guard: "", from: null, to, effects: [], actions: [action], ...who }
  }
  const candidates = transitions()[kind].filter(
    (row) =>
      row.effects.some((effect) => effect.replace(/\?$/, "") === `audit ${action}`) &&
      (before === null ? after !== null || here === null || row.from === here : row.from === before) &&
      (after === null || (row.to === "=" ? row.from : row.to) === after)
  )
  const rows = possible(kind, candidates, entry)
  const events = [...new Set(rows.map(({ event }) => event))]
  const [row] = rows
  return {
    at: ts,
    event: events.length === 0 ? null : events.join(" or "),
    guard: [...new Set(rows.map(({ guard }) => guard).filter((guard) => guard !== ""))].join(" or "),
    from: before ?? onlyFrom(rows),
    to: after,
    // The audit does not record which of several rows fired, so only the effects common to all are shown.
    effects: (row?.effects ?? []).filter((effect) => rows.every(({ effects }) => effects.includes(effect))),
    actions: [action],
    ...who
  }
}

/** Appends a step. Audit rows of one commit that describe the same step are merged. */
const joined = (steps: ReadonlyArray<PathStep>, next: PathStep): ReadonlyArray<PathStep> => {
  const last = steps.at(-1)
  if (last === undefined || last.at !== next.at || !isOneStep(last, next)) return [...steps, next]
  const own = last.actions.length === 0
  const reasons = [last.reason, next.reason].filter((reason) => reason !== null)
  return [
    ...steps.slice(0, -1),
    {
      ...last,
      ...(own ? { by: next.by, requestId: next.requestId, guard: next.guard, effects: next.effects } : {}),
      to: next.to ?? last.to,
      from: last.from ?? next.from,
      actions: [...last.actions, ...next.actions],
      reason: own && reasons.length > 0 ? [...new Set(reasons)].join(" ") : last.reason
    }
  ]
}

/** Whether an unaudited step and an audit row of the same time can come from one event. */
const isOneStep = (last: PathStep, next: PathStep): boolean =>
  last.actions.length === 0
    ? next.actions.length > 0 && last.event !== null && next.event?.split(" or ").includes(last.event) === true
    : next.actions.length > 0 && last.requestId === next.requestId && (next.event === null || last.event === next.event)

const triesOf = (context: unknown): ReadonlyArray<PathStep> =>
  ((context as { readonly tries?: ReadonlyArray<DeliveryTry> }).tries ?? []).map(({ at, status, error }) => ({
    at,
    event: error === null ? "ACKNOWLEDGED" : "ATTEMPT_FAILED",
    guard: "",
    from: null,
    to: error === null ? "SENT" : "RETRYING",
    effects: [],
    actions: [],
    by: null,
    requestId: null,
    reason: error ?? `The endpoint answered ${status}.`
  }))

/**
 * Makes each step begin in the state where the previous one ended. The last failed attempt of a delivery ends in the
 * delivery's state.
 */
const chained = (steps: ReadonlyArray<PathStep>, kind: Kind, state: string): ReadonlyArray<PathStep> => {
  let here: string | null = kind === "webhookDelivery" ? "PENDING" : null
  return steps.flatMap((step, index) => {
    const failed = step.event === "ATTEMPT_FAILED"
    const ends = failed && (index === steps.length - 1 ? state === "FAILED" : steps[index + 1]?.from === "FAILED")
    const to = ends ? "FAILED" : step.to
    const from = step.from ?? (to === null ? null : here)
    const before = steps[index - 1]
    const silent =
      before === undefined || here === null || from === null ? null : silentStep(kind, here, from, before.at)
    here = to ?? here
    return [...(silent === null ? [] : [silent]), { ...step, from, to }]
  })
}

/** Appends the step that led to the current state, when it was not recorded. */
const upTo = (steps: ReadonlyArray<PathStep>, kind: Kind, state: string): ReadonlyArray<PathStep> => {
  const last = steps.findLast(({ to }) => to !== null)
  const silent = last?.to == null ? null : silentStep(kind, last.to, state, last.at)
  return silent === null ? steps : [...steps, silent]
}

/** Machines with transitions that are not recorded. */
const silentKinds: ReadonlySet<Kind> = new Set(["rfq", "order", "attachment", "watchImport"])

/** The unrecorded step between two states. Null when there is none, or when several are possible. */
const silentStep = (kind: Kind, from: string, to: string, after: number): PathStep | null => {
  if (from === to || !silentKinds.has(kind)) return null
  const rows = transitions()[kind].filter(
    (row) => row.from === from && row.to === to && row.effects.every((effect) => !effect.startsWith("audit "))
  )
  if (rows.length === 0) return null
  return {
    at: after,
    event: [...new Set(rows.map(({ event }) => event))].join(" or "),
    guard: [...new Set(rows.map(({ guard }) => guard).filter((guard) => guard !== ""))].join(" or "),
    from,
    to,
    effects: (rows[0]?.effects ?? []).filter((effect) => rows.every(({ effects }) => effects.includes(effect))),
    actions: [],
    by: null,
    requestId: null,
    reason: "When after this it was is not written down."
  }
}

/** The roles that may run a command. For an approval, only those that may also run the guarded command. */
const rolesOf = (
  command: string,
  { kind, context }: Pick<MachineInstance, "kind" | "context">
): ReadonlyArray<string> => {
  const roles = operatorCommands.get(command)?.roles ?? []
  const guarded = kind === "approval" ? (context as { readonly command?: string }).command : undefined
  if (guarded === undefined) return roles
  const own: ReadonlyArray<string> = operatorCommands.get(guarded)?.roles ?? []
  return roles.filter((role) => own.includes(role))
}

/** The events that the machine takes in the object's state. `fourEyes`: the commands that a second key must grant. */
export const nextOf = (
  object: Pick<MachineInstance, "kind" | "state" | "context">,
  fourEyes: ReadonlySet<string>
): ReadonlyArray<NextMove> => {
  const { kind, state } = object
  const rows = transitions()[kind]
  return rows
    .filter(({ from }) => from === state)
    .map(({ event, guard, to, effects }) => ({
      event,
      guard,
      to: to === "=" ? state : to,
      effects,
      movers: stepTriggersOf(kind, event).map((mover) => ({
        ...mover,
        roles: mover.by === "operator" ? rolesOf(mover.does, object) : [],
        secondKey: mover.by === "operator" && fourEyes.has(mover.does)
      }))
    }))
}
