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
   * Set when the command waits for a second operator key (Four eyes). `usual`: by default outside a sandbox; `on request`:
   * only if `serve --four-eyes` names the command.
   */
  readonly fourEyes?: "usual" | "on request"
  /** Set for a read that records its reader and reason. It is a POST, and refuses dry runs, which could not record it. */
  readonly audited?: true
  /** Set for a long read, which has no timeout while the server reports progress. All other reads have `readTimes.operator`. */
  readonly lasts?: true
  /** Set for a read without a database query: it does not wait for other reads. */
  readonly resident?: true
  /** Set for a read that may scan any number of rows, whatever its query. */
  readonly heavy?: true
  /** The command of the command line that uses this endpoint; the endpoint has no command of its own. */
  readonly partOf?: string
}

/** The annotation that holds a command's rules; only `openTo` sets it. */
export const CommandRules = Context.Service<CommandRules>("brokerage/http/api/operator/CommandRules")

declare const ruled: unique symbol
/** A type-level mark of an endpoint with declared rules. */
export interface Ruled {
  readonly [ruled]: true
}

/** For reads that are open to every role. Such reads return no KYC payload and no document. */
export const everyone: ReadonlyArray<OperatorRole> = operatorRoles
export const admin: ReadonlyArray<OperatorRole> = ["ADMIN"]
export const finance: ReadonlyArray<OperatorRole> = ["ADMIN", "FINANCE"]
export const compliance: ReadonlyArray<OperatorRole> = ["ADMIN", "COMPLIANCE"]
/** Roles that decide approvals; a decision also needs the role of the guarded command. */
export const deciding: ReadonlyArray<OperatorRole> = ["ADMIN", "FINANCE", "COMPLIANCE"]

/** Any endpoint, whatever its schemas. */
interface Annotated extends HttpApiEndpoint.Constraint {
  readonly annotate: (key: typeof CommandRules, value: CommandRules) => HttpApiEndpoint.Constraint
}

/** Opens an endpoint to these roles. */
export const openTo =
  (roles: ReadonlyArray<OperatorRole>, rest: Omit<CommandRules, "roles"> = {}) =>
  <E extends Annotated>(endpoint: E): E & Ruled =>
    endpoint.annotate(CommandRules, { roles, ...rest }) as E & Ruled
