/**
 * All operator commands with their rules, read from the contract. A command's name gives its route: the noun is the group,
 * the verb the endpoint (operator surface, rules for every command).
 */
import { Context, Option } from "effect"
import { HttpApi } from "effect/http-api"
import { bodyCaps } from "../../../machines/shared/Limits.ts"
import { OperatorApi } from "../OperatorApi.ts"
import { fieldsOf, scanningFilters } from "../Parameters.ts"
import { CommandRules } from "./CommandRules.ts"
import type { OperatorRole } from "./operatorTokens.ts"

export interface OperatorCommand extends CommandRules {
  readonly method: string
  readonly path: string
  readonly bodyCap: number
  /** The list parameters with which a page may scan any number of rows (`scanningFilters`). */
  readonly scanning: ReadonlyArray<string>
}

const read = (): ReadonlyMap<string, OperatorCommand> => {
  const found = new Map<string, OperatorCommand>()
  HttpApi.reflect(OperatorApi, {
    onGroup: () => undefined,
    onEndpoint: ({ group, endpoint: { identifier, annotations, method, path, query } }) => {
      const name = `${group.identifier} ${identifier}`
      const rules = Option.getOrNull(Context.getOption(annotations, CommandRules))
      if (rules === null) throw new Error(`the operator contract declares no roles for ${name}`)
      const fields = fieldsOf(query)
      const scanning = fields.has("limit") ? scanningFilters(fields) : []
      found.set(name, { bodyCap: bodyCaps.operator, scanning, ...rules, method, path })
    }
  })
  return found
}

/** All operator commands by name, in the order of the contract. */
export const operatorCommands: ReadonlyMap<string, OperatorCommand> = read()

/** Whether the role may run the command; no role may run an unknown command. */
export const mayRun = (role: OperatorRole, command: string): boolean =>
  operatorCommands.get(command)?.roles.includes(role) ?? false

/** True if the command changes data. False for an unknown command, and for a read that is audited. */
export const isWriting = (command: string): boolean => {
  const rules = operatorCommands.get(command)
  return rules !== undefined && rules.method !== "GET" && rules.audited !== true
}

const guarded = (fourEyes: CommandRules["fourEyes"]): ReadonlyArray<string> =>
  [...operatorCommands].filter(([, rules]) => rules.fourEyes === fourEyes).map(([name]) => name)

/** The commands that wait for a second operator key by default (operator surface, Four eyes). */
export const usualFourEyes = guarded("usual")
/** All commands that can be configured to wait for a second operator key. */
export const fourEyesClasses = [...usualFourEyes, ...guarded("on request")]

/** The largest body, in bytes, that any operator command accepts. */
export const largestOperatorBody = Math.max(...[...operatorCommands.values()].map(({ bodyCap }) => bodyCap))
