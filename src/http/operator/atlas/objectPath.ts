/**
 * The way of one object through its machine: audit rows as the steps that they tell, with guards and effects from the machine's
 * table; steps that another object's row tells (a package's of its blocks) as steps of its own; steps that no audit row tells
 * (trades, payments, warnings, attempts of deliveries); and what can happen next, with who can make it happen (operator surface,
 * machine inspect, atlas).
 */
import type { TableRow } from "../../../machines/describe.ts"
import { type Mover, moversOf } from "../../../machines/movers.ts"
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
  /** `secondKey`: four eyes guard the command, so that another operator key has to grant it. */
  readonly movers: ReadonlyArray<Mover & { readonly roles: ReadonlyArray<string>; readonly secondKey: boolean }>
}

type Told = Pick<MachineInstance, "kind" | "state" | "context" | "history" | "own" | "hasMore" | "isNewest">

/** The steps of a page of history with those of the same time that no audit row tells, oldest first. */
export const pathOf = ({ kind, state, context, history, own, hasMore, isNewest }: Told): ReadonlyArray<PathStep> => {
  let here: string | null = null
  const steps = inOrder(history, own, hasMore).flatMap((told) => {
    const step = "audit" in told ? stepOf(kind, told.audit, here) : ownStepOf(kind, told.own, told.at, here)
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

/** Where rows lead from, if that is one stored state. */
const onlyFrom = (rows: ReadonlyArray<TableRow>): string | null => {
  const [from = "NEW", ...others] = [...new Set(rows.map((row) => row.from))]
  return others.length > 0 || from === "NEW" ? null : from
}

type InOrder = { readonly audit: AuditEntry } | { readonly own: OwnStep; readonly at: number }

/**
 * By time. Of one moment what happened to the object is told before what the audit says came of it, but for the row that begins
 * its history; a step without a time follows that row.
 */
const inOrder = (
  history: ReadonlyArray<AuditEntry>,
  own: ReadonlyArray<OwnStep>,
  hasMore: boolean
): ReadonlyArray<InOrder> => {
  const [first] = history
  const placed = [
    ...history.map((audit) => ({ told: { audit }, at: audit.ts, rank: !hasMore && audit === first ? 0 : 3 })),
    ...own.map((step) => {
      const at = step.at ?? first?.ts ?? 0
      return { told: { own: step, at }, at, rank: step.at === null ? 1 : 2 }
    })
  ]
  return placed.toSorted((a, b) => a.at - b.at || a.rank - b.rank).map(({ told }) => told)
}

/** Null: the machine does not take it in the state that the steps before lead to, so that it was another one. */
const ownStepOf = (kind: Kind, { event, guard, said }: OwnStep, at: number, here: string | null): PathStep | null => {
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
    reason: said
  }
}

/** What a block's own steps are in the rows of others that tell them (machineInstances.ts). */
const toldOfBlocks: Readonly<Record<string, readonly [event: string, to: string]>> = {
  "kyc.store": ["PARTNER_WRITE", "APPROVED"],
  "kyc.revise": ["PARTNER_WRITE", "APPROVED"],
  "kyc.reonboard": ["PARTNER_WRITE", "APPROVED"],
  "client.mifid": ["PARTNER_WRITE", "APPROVED"],
  "kyc.rejectReliance": ["REJECT_RELIANCE", "REJECTED"]
}

/** The state that a row's before or after begins with (what else it says follows: RESTRICTED NO_NEW_RISK); null: none. */
const stateIn = (kind: Kind, text: string | null): string | null => {
  const [name = ""] = (text ?? "").split(" ", 1)
  return Object.hasOwn(machines[kind].machine.root.states, name) ? name : null
}

/**
 * Of rows that one action may tell, those that whoever acted can make happen: an operator by the command that the action is
 * called after, anybody else by no event that is left to commands. All of them where that leaves none.
 */
const possible = (kind: Kind, rows: ReadonlyArray<TableRow>, { action, role }: AuditEntry): ReadonlyArray<TableRow> => {
  const command = action.replaceAll(".", " ")
  const isOperator = operatorRoles.some((each) => each === role)
  const left = rows.filter(({ event }) =>
    moversOf(kind, event).some(({ by, does }) =>
      isOperator ? by === "operator" && does === command : by !== "operator"
    )
  )
  return left.length === 0 ? rows : left
}

/** `here`: the state that the steps before lead to; a row that tells no states is of that one. */
const stepOf = (kind: Kind, entry: AuditEntry, here: string | null): PathStep => {
  const { ts, action, role, keyLabel, requestId, reason } = entry
  const [before, after] = [stateIn(kind, entry.before), stateIn(kind, entry.after)]
  const who = { by: `${role}/${keyLabel}`, requestId, reason }
  const block = kind === "verificationBlock" ? toldOfBlocks[action] : undefined
  if (block !== undefined) {
    const [event, to] = block
    return { at: ts, event, guard: "", from: null, to, effects: [], actions: [action], ...who }
  }
  const told = transitions()[kind].filter(
    (row) =>
      row.effects.some((effect) => effect.replace(/\?$/, "") === `audit ${action}`) &&
      (before === null ? after !== null || here === null || row.from === here : row.from === before) &&
      (after === null || (row.to === "=" ? row.from : row.to) === after)
  )
  const rows = possible(kind, told, entry)
  const events = [...new Set(rows.map(({ event }) => event))]
  const [row] = rows
  return {
    at: ts,
    event: events.length === 0 ? null : events.join(" or "),
    guard: [...new Set(rows.map(({ guard }) => guard).filter((guard) => guard !== ""))].join(" or "),
    from: before ?? onlyFrom(rows),
    to: after,
    // Which of several rows it was is not written down: only what they share is said.
    effects: (row?.effects ?? []).filter((effect) => rows.every(({ effects }) => effects.includes(effect))),
    actions: [action],
    ...who
  }
}

/** Rows of one commit that tell one step become one. */
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

/** Of one moment. What an object's own row tells is what an audit row says that can be of the same event. */
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

/** Each step begins where the last one ended; the last failed attempt of a delivery ends where the delivery stands. */
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

/** The steps with the one that led to where the object stands, where nothing was written of it. */
const upTo = (steps: ReadonlyArray<PathStep>, kind: Kind, state: string): ReadonlyArray<PathStep> => {
  const last = steps.findLast(({ to }) => to !== null)
  const silent = last?.to == null ? null : silentStep(kind, last.to, state, last.at)
  return silent === null ? steps : [...steps, silent]
}

/** Machines that go from one state to another without writing it down anywhere. */
const silentKinds: ReadonlySet<Kind> = new Set(["rfq", "order", "attachment", "watchImport"])

/** The step from one state to another that nothing tells of; null: there is none, or more than one would have to be guessed. */
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

/** Who may run a command; of an approval those that may also run what it lets through. */
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

/** What the machine takes in the object's state. `fourEyes`: the commands that a second key has to grant. */
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
      movers: moversOf(kind, event).map((mover) => ({
        ...mover,
        roles: mover.by === "operator" ? rolesOf(mover.does, object) : [],
        secondKey: mover.by === "operator" && fourEyes.has(mover.does)
      }))
    }))
}
