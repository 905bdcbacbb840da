/**
 * Who may run an operator command and what else holds for it, said beside its endpoint (operator surface, rules for every
 * command). A group with an endpoint that does not say it is no feature: the operator server does not compile.
 */
import { Context } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { type OperatorRole, operatorRoles } from "./operatorTokens.ts"

export interface CommandRules {
  readonly roles: ReadonlyArray<OperatorRole>
  /** Cap of the body in bytes; the surface's own when it is not said. */
  readonly bodyCap?: number
  /**
   * Waits for a second operator key (Four eyes): `usual` by default outside a sandbox, `on request` only when
   * `serve --four-eyes` names it.
   */
  readonly fourEyes?: "usual" | "on request"
  /** A read that writes down who read and why: sent as a POST, and never in a dry run, which would write nothing down. */
  readonly audited?: true
  /** A long read: it has no timeout while the server shows progress. Any other read has `readTimes.operator`. */
  readonly lasts?: true
  /** A read without a query of the database: it waits for no other read. */
  readonly resident?: true
  /** A read that may scan any number of rows, with any query. */
  readonly heavy?: true
  /** A piece of another command of the command line, which has none of its own for it. */
  readonly partOf?: string
}

/** The annotation, set by `openTo` alone. */
export const CommandRules = Context.Service<CommandRules>("brokerage/http/api/operator/CommandRules")

declare const ruled: unique symbol
/** Carried by the type of an endpoint that says its rules. */
export interface Ruled {
  readonly [ruled]: true
}

/** Reads are open to every role: none of them shows a KYC payload or a document. */
export const everyone: ReadonlyArray<OperatorRole> = operatorRoles
export const admin: ReadonlyArray<OperatorRole> = ["ADMIN"]
export const finance: ReadonlyArray<OperatorRole> = ["ADMIN", "FINANCE"]
export const compliance: ReadonlyArray<OperatorRole> = ["ADMIN", "COMPLIANCE"]
/** Deciding an approval also needs the role of the command that it is bound to. */
export const deciding: ReadonlyArray<OperatorRole> = ["ADMIN", "FINANCE", "COMPLIANCE"]

/** What can carry the annotation, whatever its schemas are. */
interface Annotated extends HttpApiEndpoint.Constraint {
  readonly annotate: (key: typeof CommandRules, value: CommandRules) => HttpApiEndpoint.Constraint
}

/** Opens an endpoint to the roles. */
export const openTo =
  (roles: ReadonlyArray<OperatorRole>, rest: Omit<CommandRules, "roles"> = {}) =>
  <E extends Annotated>(endpoint: E): E & Ruled =>
    endpoint.annotate(CommandRules, { roles, ...rest }) as E & Ruled
