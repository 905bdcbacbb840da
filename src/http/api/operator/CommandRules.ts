/**
 * The roles and rules of an operator command, declared beside its endpoint. An endpoint without them does not compile (operator
 * surface, rules for every command).
 */
import { Context } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { type OperatorRole, operatorRoles } from "./operatorTokens.ts"

export interface CommandRules {
  readonly roles: ReadonlyArray<OperatorRole>
  /** Cap of the body in bytes; the surface's own by default. */
  readonly bodyCap?: number
  /**
   * Waits for a second operator key (Four eyes): `usual` by default outside a sandbox, `on request` only if `serve --four-eyes`
   * names it.
   */
  readonly fourEyes?: "usual" | "on request"
  /** A read that records its reader and reason. It is a POST and refuses dry runs, which could not record it. */
  readonly audited?: true
  /** A long read: it has no timeout while the server reports progress. Any other read has `readTimes.operator`. */
  readonly lasts?: true
  /** A read without a database query, which waits for no other read. */
  readonly resident?: true
  /** A read that may scan any number of rows with any query. */
  readonly heavy?: true
  /** The command that this endpoint is part of, for an endpoint without a command of its own. */
  readonly partOf?: string
}

/** The annotation; only `openTo` sets it. */
export const CommandRules = Context.Service<CommandRules>("brokerage/http/api/operator/CommandRules")

declare const ruled: unique symbol
/** Marks, by type, an endpoint with declared rules. */
export interface Ruled {
  readonly [ruled]: true
}

/** Every role may read, because these reads return no KYC payload and no document. */
export const everyone: ReadonlyArray<OperatorRole> = operatorRoles
export const admin: ReadonlyArray<OperatorRole> = ["ADMIN"]
export const finance: ReadonlyArray<OperatorRole> = ["ADMIN", "FINANCE"]
export const compliance: ReadonlyArray<OperatorRole> = ["ADMIN", "COMPLIANCE"]
/** A decision on an approval also needs the role of the guarded command. */
export const deciding: ReadonlyArray<OperatorRole> = ["ADMIN", "FINANCE", "COMPLIANCE"]

/** Any endpoint, with any schemas. */
interface Annotated extends HttpApiEndpoint.Constraint {
  readonly annotate: (key: typeof CommandRules, value: CommandRules) => HttpApiEndpoint.Constraint
}

/** Opens an endpoint to the roles. */
export const openTo =
  (roles: ReadonlyArray<OperatorRole>, rest: Omit<CommandRules, "roles"> = {}) =>
  <E extends Annotated>(endpoint: E): E & Ruled =>
    endpoint.annotate(CommandRules, { roles, ...rest }) as E & Ruled
