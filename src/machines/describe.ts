/**
 * Describes machines as data, from the machines themselves: reachable rows, transition table, Mermaid text, shape. The atlas,
 * `machine show` and the tests use this one description, so that they cannot differ (architecture, registry.ts).
 */
import { type AnyMachineSnapshot, type AnyStateMachine, type EventObject, initialTransition, transition } from "xstate"
import type { MachineEffect } from "./Effects.ts"

/** The part of a registry entry that is needed to walk through a machine. */
export interface Walkable {
  readonly machine: AnyStateMachine
  readonly samples: ReadonlyArray<EventObject>
  readonly inputs: ReadonlyArray<unknown>
}

/** A row (state and context) that a machine can reach, and the shortest path of sample events to it. */
export interface Reached {
  readonly snapshot: AnyMachineSnapshot
  readonly state: string
  readonly path: ReadonlyArray<EventObject>
}

/**
 * One row of a transition table. `guard` is "otherwise" for the last alternative after guarded ones; `to` is "=" when the
 * state stays.
 */
export interface TableRow {
  readonly from: string
  readonly event: string
  readonly guard: string
  readonly to: string
  /** Names such as `event client.onboarded`; a trailing `?` marks an effect that only some samples showed. */
  readonly effects: ReadonlyArray<string>
}

/**
 * Limit on the rows that a machine may reach, far above the rows that the samples of any machine reach. A machine with more has a
 * context that grows without bound.
 */
const maxReached = 5_000

/**
 * Every row (state and context) that the sample events reach from the inputs, breadth first. Throws when contexts do not
 * stay finite under the samples.
 */
export const reachable = (walkable: Walkable): ReadonlyArray<Reached> => {
  const seen = new Map<string, Reached>()
  const add = (snapshot: AnyMachineSnapshot, path: ReadonlyArray<EventObject>) => {
    const key = JSON.stringify([snapshot.value, snapshot.context])
    if (seen.has(key)) return
    if (seen.size >= maxReached) throw new Error(`machine ${walkable.machine.id} reaches more than ${maxReached} rows`)
    seen.set(key, { snapshot, state: String(snapshot.value), path })
  }
  for (const input of walkable.inputs) add(initialTransition(walkable.machine, input as never)[0], [])
  // A Map also iterates over entries added during the iteration, so it serves as the queue.
  for (const { snapshot, path } of seen.values()) {
    for (const event of walkable.samples) add(transition(walkable.machine, snapshot, event)[0], [...path, event])
  }
  return [...seen.values()]
}

/** The name of an effect, without its amounts. */
export const effectName = (effect: MachineEffect): string => {
  switch (effect.type) {
    case "ledger.post":
      return `ledger.post ${effect.entry}`
    case "event":
      return `event ${effect.name}`
    case "notify":
      return `notify ${effect.kind}`
    case "timer.set":
    case "timer.clear":
      return `${effect.type} ${effect.name}`
    case "audit":
      return `audit ${effect.action}`
    case "venue.call":
      return `venue.call ${effect.call.name}`
  }
}

type Definition = ReturnType<AnyStateMachine["getTransitionData"]>[number]

const guardName = (guard: unknown): string => {
  if (guard === undefined) return ""
  return typeof guard === "string" ? guard : ((guard as { readonly type?: string }).type ?? "guard")
}

/** Effect names by transition, with the number of samples and of those samples that showed the effect. */
const sampleEffects = (walkable: Walkable) => {
  const byTransition = new Map<Definition, { runs: number; readonly names: Map<string, number> }>()
  for (const { snapshot } of reachable(walkable)) {
    for (const event of walkable.samples) {
      const [taken] = walkable.machine.getTransitionData(snapshot, event)
      if (taken === undefined) continue
      const [, actions] = transition(walkable.machine, snapshot, event)
      const record = byTransition.get(taken) ?? { runs: 0, names: new Map<string, number>() }
      record.runs++
      for (const action of actions) {
        const name = effectName((action.params as { readonly event: EventObject }).event as MachineEffect)
        record.names.set(name, (record.names.get(name) ?? 0) + 1)
      }
      byTransition.set(taken, record)
    }
  }
  return byTransition
}

/** All transitions of the machine in the order of its definition, with the effects that its samples showed. */
export const tableOf = (walkable: Walkable): ReadonlyArray<TableRow> => {
  const sampled = sampleEffects(walkable)
  return statesOf(walkable.machine).flatMap(({ name }) => {
    const node = walkable.machine.root.states[name]
    return [...(node?.transitions ?? [])].flatMap(([event, definitions]) =>
      definitions.map((definition, index): TableRow => {
        const seen = sampled.get(definition)
        const guard = guardName(definition.guard)
        return {
          from: name,
          event,
          guard: guard === "" && index > 0 ? "otherwise" : guard,
          to: definition.target?.[0]?.key ?? "=",
          effects: [...(seen?.names ?? [])].map(([effect, count]) => (count === seen?.runs ? effect : `${effect}?`))
        }
      })
    )
  })
}

/** A row of a table by its name: `OPEN VENUE_ENDED [endedExpired] EXPIRED`. */
export const rowName = ({ from, event, guard, to }: Omit<TableRow, "effects">): string =>
  `${from} ${moveText({ event, guard })} ${to === "=" ? from : to}`

/** The name of the row that takes an event; null when no row takes it. */
export const rowTaken = (
  machine: AnyStateMachine,
  { state: from, context }: { readonly state: string; readonly context: unknown },
  event: EventObject
): string | null => {
  const [taken] = machine.getTransitionData(machine.resolveState({ value: from, context }), event)
  if (taken === undefined) return null
  const guard = guardName(taken.guard)
  const isFirst = machine.root.states[from]?.transitions.get(event.type)?.indexOf(taken) === 0
  const named = guard === "" && !isFirst ? "otherwise" : guard
  return rowName({ from, event: event.type, guard: named, to: taken.target?.[0]?.key ?? "=" })
}

export interface StateDescription {
  readonly name: string
  readonly description: string
  readonly final: boolean
}

/** The states of a flat machine, in the order they are written. */
export const statesOf = (machine: AnyStateMachine): ReadonlyArray<StateDescription> =>
  Object.values(machine.root.states).map((node) => ({
    name: node.key,
    description: node.description ?? "",
    final: node.type === "final"
  }))

/** The name of the state in which new objects of a machine begin. */
export const initialOf = (machine: AnyStateMachine): string => machine.root.initial.target[0]?.key ?? ""

/** One arrow of a picture: all transitions between two states, stacked. */
export interface Arrow {
  readonly from: string
  readonly to: string
  readonly moves: ReadonlyArray<Move>
}

/** An event with its guard, as the machine names them. */
export interface Move {
  readonly event: string
  readonly guard: string
}

/** `EVENT [guard]`, or `EVENT` without a guard, as pictures write it. */
export const moveText = ({ event, guard }: Move): string => (guard === "" ? event : `${event} [${guard}]`)

/** One arrow per pair of states, in the order the machine is written; transitions that keep the state go from it to itself. */
export const arrowsOf = (machine: AnyStateMachine): ReadonlyArray<Arrow> => {
  const arrows = new Map<string, { readonly from: string; readonly to: string; readonly moves: Array<Move> }>()
  for (const { name } of statesOf(machine)) {
    for (const [event, definitions] of machine.root.states[name]?.transitions ?? []) {
      for (const [index, definition] of definitions.entries()) {
        const to = definition.target?.[0]?.key ?? name
        const named = guardName(definition.guard)
        const guard = named === "" && index > 0 ? "otherwise" : named
        const arrow = arrows.get(`${name} ${to}`) ?? { from: name, to, moves: [] }
        arrows.set(`${name} ${to}`, arrow)
        if (!arrow.moves.some((move) => move.event === event && move.guard === guard))
          arrow.moves.push({ event, guard })
      }
    }
  }
  return [...arrows.values()]
}

/** The machine as a Mermaid state diagram: one arrow per pair of states, its events stacked on it. */
export const toMermaid = (machine: AnyStateMachine): string => {
  const states = statesOf(machine)
  const arrows = new Map<string, Array<string>>()
  for (const { name } of states) {
    for (const [event, definitions] of machine.root.states[name]?.transitions ?? []) {
      for (const definition of definitions) {
        const guard = guardName(definition.guard)
        const arrow = `${name} --> ${definition.target?.[0]?.key ?? name}`
        arrows.set(arrow, [...(arrows.get(arrow) ?? []), guard === "" ? event : `${event} [${guard}]`])
      }
    }
  }
  return [
    "stateDiagram-v2",
    // States are written before arrows, because some renderers take a label from its first mention.
    ...states.map(({ name }) => `  ${name}`),
    `  [*] --> ${initialOf(machine)}`,
    ...[...arrows].map(([arrow, labels]) => `  ${arrow}: ${[...new Set(labels)].join("<br/>")}`),
    ...states.filter(({ final }) => final).map(({ name }) => `  ${name} --> [*]`),
    ""
  ].join("\n")
}

/**
 * States and transitions as canonical text. Stored rows depend on it: when it changes, the machine needs a new version, and an
 * upcaster for old rows.
 */
export const shapeOf = (walkable: Walkable): string =>
  [
    ...statesOf(walkable.machine).map(({ name, final }) => `state ${name}${final ? " final" : ""}`),
    ...tableOf(walkable).map(({ from, event, guard, to }) => `${from} | ${event} | ${guard} | ${to}`)
  ]
    .toSorted()
    .join("\n")
