/**
 * The way of one object through its machine: audit rows as the steps that they tell, with guards and effects from the machine's
 * table; steps that another object's row tells (a package's of its blocks) as steps of its own; attempts of deliveries, which
 * no audit row tells; and what can happen next, with who can make it happen (operator surface, machine inspect, atlas).
 */
import type { TableRow } from "../../../machines/describe.ts"
import { type Mover, moversOf } from "../../../machines/movers.ts"
import { type Kind, machines } from "../../../machines/registry.ts"
import type { DeliveryTry } from "../../../machines/webhook/Webhook.ts"
import type { AuditEntry } from "../../../runtime/services/operator/AuditTrail.ts"
import type { MachineInstance } from "../../../runtime/services/operator/Inspect.ts"
import type { PathStep as Step } from "../../api/operator/MachineGroup.ts"
import { operatorCommands } from "../../api/operator/commands.ts"
import { transitions } from "./machineTables.ts"

type PathStep = typeof Step.Type

export interface NextMove extends Pick<TableRow, "event" | "guard" | "effects"> {
  readonly to: string
  readonly movers: ReadonlyArray<Mover & { readonly roles: ReadonlyArray<string> }>
}

type Told = Pick<MachineInstance, "kind" | "state" | "context" | "history">

/** The steps of a page of history, oldest first. */
export const pathOf = ({ kind, state, context, history }: Told): ReadonlyArray<PathStep> => {
  let here: string | null = null
  const steps = history.map((entry) => {
    const step = stepOf(kind, entry, here)
    here = step.to ?? here
    return step
  })
  const told = steps.reduce<ReadonlyArray<PathStep>>(joined, [])
  const tries = kind === "webhookDelivery" ? triesOf(context) : []
  return chained(
    [...told, ...tries].toSorted((a, b) => a.at - b.at),
    kind,
    state
  )
}

/** What a block's own steps are in the rows of others that tell them (machineInstances.ts). */
const toldOfBlocks: Readonly<Record<string, readonly [event: string, to: string]>> = {
  "kyc.store": ["PARTNER_WRITE", "APPROVED"],
  "kyc.revise": ["PARTNER_WRITE", "APPROVED"],
  "kyc.reonboard": ["PARTNER_WRITE", "APPROVED"],
  "client.mifid": ["PARTNER_WRITE", "APPROVED"],
  "kyc.rejectReliance": ["REJECT_RELIANCE", "REJECTED"]
}

const isState = (kind: Kind, name: string | null): name is string =>
  name !== null && name in machines[kind].machine.root.states

/** `here`: the state that the steps before lead to; a row that tells no states is of that one. */
const stepOf = (kind: Kind, entry: AuditEntry, here: string | null): PathStep => {
  const { ts, action, before, after, role, keyLabel, requestId, reason } = entry
  const who = { by: `${role}/${keyLabel}`, requestId, reason }
  const block = kind === "verificationBlock" ? toldOfBlocks[action] : undefined
  if (block !== undefined) {
    const [event, to] = block
    return { at: ts, event, guard: "", from: null, to, effects: [], actions: [action], ...who }
  }
  const rows = transitions()[kind].filter(
    (row) =>
      row.effects.some((effect) => effect.replace(/\?$/, "") === `audit ${action}`) &&
      (isState(kind, before) ? row.from === before : isState(kind, after) || here === null || row.from === here) &&
      (!isState(kind, after) || (row.to === "=" ? row.from : row.to) === after)
  )
  const events = [...new Set(rows.map(({ event }) => event))]
  const [row] = rows
  return {
    at: ts,
    event: events.length === 0 ? null : events.join(" or "),
    guard: [...new Set(rows.map(({ guard }) => guard).filter((guard) => guard !== ""))].join(" or "),
    from: isState(kind, before) ? before : null,
    to: isState(kind, after) ? after : null,
    // Which of several rows it was is not written down: only what they share is said.
    effects: (row?.effects ?? []).filter((effect) => rows.every(({ effects }) => effects.includes(effect))),
    actions: [action],
    ...who
  }
}

/** Rows of one commit that tell one step become one. */
const joined = (steps: ReadonlyArray<PathStep>, next: PathStep): ReadonlyArray<PathStep> => {
  const last = steps.at(-1)
  const same =
    last !== undefined &&
    last.at === next.at &&
    last.requestId === next.requestId &&
    (next.event === null || last.event === next.event)
  if (!same) return [...steps, next]
  return [
    ...steps.slice(0, -1),
    { ...last, to: next.to ?? last.to, from: last.from ?? next.from, actions: [...last.actions, ...next.actions] }
  ]
}

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
  return steps.map((step, index) => {
    const failed = step.event === "ATTEMPT_FAILED"
    const ends = failed && (index === steps.length - 1 ? state === "FAILED" : steps[index + 1]?.from === "FAILED")
    const to = ends ? "FAILED" : step.to
    const from = step.from ?? (to === null ? null : here)
    here = to ?? here
    return { ...step, from, to }
  })
}

/** What the machine takes in the object's state. */
export const nextOf = ({ kind, state }: Pick<MachineInstance, "kind" | "state">): ReadonlyArray<NextMove> => {
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
        roles: mover.by === "operator" ? (operatorCommands.get(mover.does)?.roles ?? []) : []
      }))
    }))
}
