/** The description of one machine in the registry. */
import type { AnyStateMachine, EventFrom, InputFrom, StateValueFrom } from "xstate"

/** The way in which a sandbox brings an object into a state. */
export interface Reach {
  /**
   * The party that can do it with a request (partner) or a command (operator); `nobody` when no single request or command
   * does it.
   */
  readonly by: "partner" | "operator" | "nobody"
  /** The requests or commands as a sentence, commands in backticks. */
  readonly how: string
}

export const partner = (how: string): Reach => ({ by: "partner", how })
export const operator = (how: string): Reach => ({ by: "operator", how })
export const unreached = (how: string): Reach => ({ by: "nobody", how })

/** The state names as stored. NEW is only the start of a creation, and no row ever has it. */
export type StoredStateOf<M extends AnyStateMachine> = Exclude<Extract<StateValueFrom<M>, string>, "NEW">

/** Colour groups of states: waiting for a person or a system, ended, or refused. */
export interface Looks<S extends string = string> {
  readonly waiting: ReadonlyArray<S>
  readonly ended: ReadonlyArray<S>
  readonly refused: ReadonlyArray<S>
}

/** All that the registry knows of one machine. */
export interface MachineEntry<M extends AnyStateMachine = AnyStateMachine> {
  readonly machine: M
  /** Sample events that cover both sides of every guard. */
  readonly samples: ReadonlyArray<EventFrom<M>>
  /** The inputs with which a walk through the machine begins; several where an input decides a guard or an effect. */
  readonly inputs: ReadonlyArray<InputFrom<M>>
  readonly title: string
  readonly meaning: string
  readonly clause: string
  /** The colour groups of the machine's stored states; a state in no list is active. */
  readonly looks: Looks<StoredStateOf<M>>
  /** How a sandbox brings an object into each of its stored states. */
  readonly reached: { readonly [S in StoredStateOf<M>]: Reach }
}

/** Returns the definition unchanged, so that TypeScript checks it against its own machine. */
export const entry = <M extends AnyStateMachine>(definition: MachineEntry<M>): MachineEntry<M> => definition
