/**
 * X-Sandbox-Hint: names the parameters and members of a request that its route does not know, each with the known name that
 * was probably meant. The contract ignores unknown names, so a misspelling would otherwise stay unnoticed. Only sandboxes
 * send it (A1-01).
 */
import { closest } from "../../machines/shared/closest.ts"
import type { OpenApiDocument } from "../openApiDocument.ts"
import type { Exchange } from "./Exchange.ts"
import type { Principal } from "../../runtime/services/partners/Principal.ts"

type Schema = Readonly<Record<string, unknown>>

interface Known {
  readonly query: ReadonlyArray<string>
  /** The schema of the body; null when the route takes no body. */
  readonly body: Schema | null
}

const header = "X-Sandbox-Hint"
/** Limits of one hint: names listed, letters of each name, items checked in an array. */
const most = { names: 5, letters: 60, nested: 200 }

interface Described {
  readonly operationId: string
  readonly parameters?: ReadonlyArray<{ readonly name: string; readonly in: string }>
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}

export class SandboxHints {
  private readonly known = new Map<string, Known>()
  private readonly named: Readonly<Record<string, Schema>>

  constructor({ paths, components }: OpenApiDocument) {
    this.named = components.schemas as Readonly<Record<string, Schema>>
    for (const item of Object.values(paths)) {
      for (const { operationId, parameters = [], requestBody } of Object.values(item) as ReadonlyArray<Described>) {
        const query = parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name)
        this.known.set(operationId, { query, body: requestBody?.content["application/json"]?.schema ?? null })
      }
    }
  }

  /** Sets the header that lists the unknown parameters and members. `body` is undefined for a request without a body. */
  give<P extends Principal>({ match, search, response }: Exchange<P>, body?: unknown): void {
    const known = this.known.get(match?.route.operation ?? "")
    if (known === undefined || response.headersSent) return
    const hints: Array<string> = []
    if (search !== "") {
      for (const name of new Set(new URLSearchParams(search).keys())) {
        if (!known.query.includes(name)) hints.push(`unknown parameter ${shown(name)}${meant(name, known.query)}`)
      }
    }
    if (known.body !== null && body !== undefined) this.members(known.body, body, "", hints)
    if (hints.length > 0) response.setHeader(header, hints.slice(0, most.names).join(", "))
  }

  private members(schema: Schema | undefined, value: unknown, at: string, hints: Array<string>): void {
    if (hints.length >= most.names || schema === undefined || typeof value !== "object" || value === null) return
    if (typeof schema["$ref"] === "string") {
      return this.members(this.named[schema["$ref"].split("/").at(-1) ?? ""], value, at, hints)
    }
    const choices = Array.isArray(schema["anyOf"]) ? (schema["anyOf"] as ReadonlyArray<Schema>) : []
    // With several object shapes, the intended one is unknown, so nothing is checked.
    const objects = choices.filter((choice) => choice["type"] !== "null")
    if (choices.length > 0) return objects.length === 1 ? this.members(objects[0], value, at, hints) : undefined
    if (Array.isArray(value)) {
      for (const item of value.slice(0, most.nested)) this.members(schema["items"] as Schema, item, `${at}[]`, hints)
      return
    }
    const properties = schema["properties"] as Readonly<Record<string, Schema>> | undefined
    if (properties === undefined) return
    for (const [name, member] of Object.entries(value)) {
      const path = at === "" ? name : `${at}.${name}`
      if (Object.hasOwn(properties, name)) this.members(properties[name], member, path, hints)
      else addOnce(hints, `unknown member ${shown(path)}${meant(name, Object.keys(properties))}`)
      if (hints.length >= most.names) return
    }
  }
}

const addOnce = (hints: Array<string>, hint: string): void => {
  if (!hints.includes(hint)) hints.push(hint)
}

/** The name in a form that is safe in a header: only ASCII characters that end neither the header nor a sentence. */
const shown = (name: string): string => {
  const safe = name.replaceAll(/[^\w.[\]-]/g, "?")
  return safe.length > most.letters ? `${safe.slice(0, most.letters)}...` : safe
}

/** Suggests the closest known name. Empty when the name is too long to be a misspelling. */
const meant = (name: string, known: ReadonlyArray<string>): string =>
  name.length > most.letters ? "" : closest(name, known).replaceAll('"', "")
