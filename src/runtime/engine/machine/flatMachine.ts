/**
 * A flat machine, compiled for fast steps: for each state the transitions of each event, with guards and actions resolved once.
 * XState's own step supports nested and parallel charts: it allocates some thirty collections for one transition, half of all
 * allocations of a collateral report. Machines stay XState definitions. A machine outside this subset is refused when it is first
 * used, and test/machines/all.test.ts holds the result equal to XState's transition() over every reachable state and event.
 * Source: decision record 5.
 */
import type { AnyStateMachine, AnyStateNode, EventObject } from "xstate"
import type { MachineEffect } from "../../../machines/Effects.ts"

type Context = object
interface Given {
  readonly context: Context
  readonly event: EventObject
}
type Guard = (given: Given) => boolean

/** The effect of an action: it returns a new context, emits an effect, or chooses the actions that replace it. */
type Action =
  | { readonly assigns: (given: Given) => Context }
  | { readonly emits: (given: Given) => MachineEffect }
  | { readonly queues: (given: Given) => ReadonlyArray<Action> }

interface Transition {
  readonly guard: Guard | null
  readonly target: string
  /** Actions of exit, transition and entry, in that order. */
  readonly actions: ReadonlyArray<Action>
}

/** The transitions of one machine. Throws the errors of guards, actions and context factories. */
export interface FlatMachine {
  readonly begin: (input: unknown) => Moved
  /** Null when the state does not accept the event. Throws on a state name that the machine does not have. */
  readonly step: (state: string, context: Context, event: EventObject) => Moved | null
}

export interface Moved {
  readonly state: string
  readonly context: Context
  /** In the order the machine emitted them. */
  readonly effects: ReadonlyArray<MachineEffect>
}

const unsupported = (node: AnyStateNode, what: string): never => {
  throw new Error(
    `${node.id}: ${what} is outside what the host runs (flat states, guards without parameters, assign, emit, enqueueActions)`
  )
}

/** Compiles a machine; throws when it uses anything beyond the flat subset. */
export const compileFlat = (machine: AnyStateMachine): FlatMachine => {
  const { root } = machine
  if (root.type !== "compound" || root.transitions.size > 0 || root.entry.length + root.exit.length > 0) {
    unsupported(root, "a root that is not a plain list of states")
  }
  const states = new Map(Object.values(root.states).map((node) => [node.key, compileState(machine, node)] as const))
  const [first] = root.initial.target ?? []
  if (first === undefined || root.initial.actions.length > 0) throw unsupported(root, "this initial state")
  const entry = first.entry.map((action) => compileAction(machine, first, action))
  const { context: contextOf } = machine.config
  return {
    begin: (input) => {
      const event = { type: "xstate.init", input }
      const context = typeof contextOf === "function" ? contextOf({ input } as never) : (contextOf ?? {})
      return run(first.key, entry, { context, event })
    },
    step: (name, context, event) => {
      const state = states.get(name)
      if (state === undefined) throw new Error(`${machine.id} has no state ${name}`)
      const candidates = state.get(event.type)
      if (candidates === undefined) return null
      const given = { context, event }
      for (const { guard, target, actions } of candidates) {
        if (guard === null || guard(given)) return run(target, actions, given)
      }
      return null
    }
  }
}

const run = (state: string, actions: ReadonlyArray<Action>, given: Given): Moved => {
  const effects: Array<MachineEffect> = []
  return { state, context: perform(actions, given, effects), effects }
}

/** The context after the actions; the effects that they emit are appended to `effects`. */
const perform = (actions: ReadonlyArray<Action>, { context, event }: Given, effects: Array<MachineEffect>): Context => {
  let given: Given = { context, event }
  for (const action of actions) {
    if ("emits" in action) effects.push(action.emits(given))
    else if ("assigns" in action) given = { context: action.assigns(given), event }
    else given = { context: perform(action.queues(given), given, effects), event }
  }
  return given.context
}

type Moves = ReadonlyMap<string, ReadonlyArray<Transition>>

const compileState = (machine: AnyStateMachine, node: AnyStateNode): Moves => {
  if (node.type !== "atomic" && node.type !== "final") unsupported(node, `a state of type ${node.type}`)
  if (node.invoke.length > 0 || (node.always ?? []).length > 0 || node.after.length > 0)
    unsupported(node, "invoke, always or after")
  // Nothing leaves a final state (XState stops there), whatever its definition contains.
  if (node.type === "final") return new Map()
  return new Map(
    [...node.transitions].map(([event, definitions]) => {
      if (event.includes("*")) unsupported(node, "a wildcard event")
      return [event, definitions.map((definition) => compileTransition(machine, node, definition))]
    })
  )
}

type Definition = NonNullable<ReturnType<AnyStateNode["transitions"]["get"]>>[number]

const compileTransition = (machine: AnyStateMachine, source: AnyStateNode, definition: Definition): Transition => {
  const targets = (definition.target ?? []) as ReadonlyArray<AnyStateNode>
  if (targets.length > 1) unsupported(source, "a transition with several targets")
  const target = targets[0] ?? source
  const moves = target !== source || (targets.length > 0 && definition.reenter)
  const actions = moves ? [...source.exit, ...definition.actions, ...target.entry] : definition.actions
  return {
    guard: compileGuard(machine, source, definition.guard),
    target: target.key,
    actions: actions.map((action) => compileAction(machine, source, action))
  }
}

const compileGuard = (machine: AnyStateMachine, node: AnyStateNode, guard: unknown): Guard | null => {
  if (guard === undefined) return null
  const found = typeof guard === "string" ? machine.implementations.guards[guard] : guard
  if (typeof found !== "function" || "check" in found) return unsupported(node, "a guard with parameters or operators")
  return found as Guard
}

/** The properties that XState's action creators set on the functions that they return. */
interface Creator {
  readonly type?: string
  readonly assignment?: unknown
  readonly event?: unknown
  readonly collect?: unknown
}

const compileAction = (machine: AnyStateMachine, node: AnyStateNode, action: unknown): Action => {
  const found = (typeof action === "string" ? machine.implementations.actions[action] : action) as Creator | undefined
  switch (found?.type) {
    case "xstate.assign":
      return { assigns: compileAssignment(found.assignment) }
    case "xstate.emit": {
      const { event } = found
      return { emits: (typeof event === "function" ? event : () => event) as (given: Given) => MachineEffect }
    }
    case "xstate.enqueueActions":
      return { queues: compileQueue(machine, node, found.collect as Collect) }
    default:
      return unsupported(node, `the action ${String(found?.type ?? action)}`)
  }
}

type Collect = (given: Given & { readonly enqueue: unknown; readonly check: (guard: unknown) => boolean }) => void

const compileQueue = (machine: AnyStateMachine, node: AnyStateNode, collect: Collect) => (given: Given) => {
  const actions: Array<Action> = []
  const add = (action: unknown): void => void actions.push(compileAction(machine, node, action))
  const enqueue = Object.assign(add, {
    assign: (assignment: unknown) => void actions.push({ assigns: compileAssignment(assignment) }),
    emit: (event: unknown) => add({ type: "xstate.emit", event })
  })
  collect({ ...given, enqueue, check: (guard) => compileGuard(machine, node, guard)?.(given) ?? true })
  return actions
}

const compileAssignment = (assignment: unknown): ((given: Given) => Context) => {
  if (typeof assignment === "function") return (given) => ({ ...given.context, ...assignment(given) })
  const updates = Object.entries(assignment as Record<string, unknown>)
  return (given) => {
    const context: Record<string, unknown> = { ...given.context }
    for (const [name, value] of updates) context[name] = typeof value === "function" ? value(given) : value
    return context
  }
}
