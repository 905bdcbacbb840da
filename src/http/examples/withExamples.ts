/**
 * Adds the recorded examples to the description. Bodies, answers and events refer to components. Each schema gets the first
 * recorded value as its example. Parameters and headers have examples too, so that a reader can call each route with the
 * example values.
 */
import { meaningOf } from "../../machines/shared/RefusalReason.ts"
import { recorded } from "./recorded.ts"

interface Node {
  [name: string]: unknown
}
interface Media {
  readonly schema?: Node
  examples?: Readonly<Record<string, { readonly $ref: string }>>
}
interface Parameter {
  readonly name: string
  readonly in: string
  readonly schema?: Node
  example?: unknown
}
interface Operation {
  readonly operationId?: string
  readonly parameters?: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>
}
type Items = Readonly<Record<string, Readonly<Record<string, Operation>>>>
export interface Described {
  readonly paths: Items
  readonly webhooks?: Items
  readonly components: { readonly schemas: Readonly<Record<string, Node>>; examples?: Node }
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value)
const schemaPlace = "#/components/schemas/"
const examplePlace = "#/components/examples/"

export const withExamples = (spec: object): void => {
  const { paths, webhooks = {}, components } = spec as Described
  const { operations, events } = recorded()
  const examples: Node = { ...components.examples }
  const show = (media: Media | undefined, name: string, summary: string, value: unknown): void => {
    if (media === undefined || value === undefined) return
    examples[name] = { summary, value }
    media.examples = { ...media.examples, [name]: { $ref: `${examplePlace}${name}` } }
  }
  const reference = (operations["clients.create"]?.request as Node | undefined)?.["partnerClientRef"]
  for (const operation of operationsOf(paths)) {
    for (const parameter of operation.parameters ?? []) exemplify(parameter, operation.operationId ?? "", reference)
    const { operationId: id = "", requestBody, responses } = operation
    const found = operations[id]
    show(mediaOf(requestBody), `${id}.request`, "As a scenario sent it", found?.request)
    for (const [status, answers] of Object.entries(found?.answers ?? {})) {
      for (const [at, answer] of answers.entries()) {
        const name = at === 0 ? `${id}.${status}` : `${id}.${status}.${at + 1}`
        show(mediaOf(responses[status]), name, summaryOf(Number(status), answer), answer)
      }
    }
  }
  for (const [event, body] of Object.entries(events)) {
    show(mediaOf(webhooks[event]?.post?.requestBody), event, "As a scenario was told", body)
  }
  components.examples = referenced(examples, [paths, webhooks])
  const shown = new Schemas(components.schemas)
  for (const operation of [...operationsOf(paths), ...operationsOf(webhooks)]) {
    for (const part of [operation.requestBody, ...Object.values(operation.responses)]) {
      const media = mediaOf(part)
      for (const { $ref } of Object.values(media?.examples ?? {})) {
        shown.see(media?.schema, (examples[$ref.slice(examplePlace.length)] as Node).value)
      }
    }
  }
}

/** The examples to which the description refers: a contract with few routes needs few of the common ones. */
const referenced = (examples: Node, parts: ReadonlyArray<Items>): Node => {
  const text = JSON.stringify(parts)
  return Object.fromEntries(Object.entries(examples).filter(([name]) => text.includes(`"${examplePlace}${name}"`)))
}

/**
 * Sets the example of a parameter. Id 1 exists early in any database, and the client's name comes from a scenario. Each
 * operation has its own idempotency key, because with a shared key the second write would be refused.
 */
const exemplify = (parameter: Parameter, operation: string, reference: unknown): void => {
  if (parameter.name === "idempotency-key") parameter.example = `${operation}-1`
  else if (parameter.in === "path") parameter.example = parameter.schema?.["type"] === "integer" ? 1 : reference
}

/** The summary of a refusal: the meaning of its reason, if its code has several reasons. */
const summaryOf = (status: number, answer: unknown): string => {
  if (status < 400) return "As a scenario was answered"
  const { data } = answer as { readonly data?: { readonly reason?: string } }
  const meanings: Readonly<Record<string, string>> = meaningOf
  return meanings[data?.reason ?? ""] ?? "As a scenario was refused"
}

const operationsOf = (items: Items): ReadonlyArray<Operation> => Object.values(items).flatMap(Object.values<Operation>)

const mediaOf = (part: { readonly content?: Readonly<Record<string, Media>> } | undefined): Media | undefined =>
  Object.values(part?.content ?? {})[0]

/** The schemas of the components. Each gets as its example the first value that it describes. */
class Schemas {
  private readonly named: Readonly<Record<string, Node>>
  constructor(named: Readonly<Record<string, Node>>) {
    this.named = named
  }

  see(schema: unknown, value: unknown): void {
    if (!isNode(schema) || value === undefined || value === null) return
    if (typeof schema["$ref"] === "string") return this.seeNamed(schema["$ref"], value)
    for (const choice of listOf(schema["anyOf"])) if (this.fits(choice, value)) this.see(choice, value)
    for (const part of listOf(schema["allOf"])) this.see(part, value)
    if (Array.isArray(value)) for (const item of value) this.see(schema["items"], item)
    const { properties } = schema
    if (!isNode(properties) || !isNode(value)) return
    for (const [name, member] of Object.entries(properties)) this.see(member, value[name])
  }

  private seeNamed(ref: string, value: unknown): void {
    const schema = this.named[ref.slice(schemaPlace.length)]
    if (schema === undefined) return
    this.see(schema, value)
    if (schema["examples"] === undefined) schema["examples"] = [value]
  }

  /** Whether a choice matches the value by type and required members. */
  private fits(choice: unknown, value: unknown): boolean {
    if (!isNode(choice)) return false
    if (typeof choice["$ref"] === "string")
      return this.fits(this.named[choice["$ref"].slice(schemaPlace.length)], value)
    const { type, required, properties } = choice
    if (
      typeof type === "string" &&
      type.replace("integer", "number") !== (Array.isArray(value) ? "array" : typeof value)
    )
      return false
    if (!isNode(value)) return true
    const literals = Object.entries(isNode(properties) ? properties : {}).filter(([name]) => value[name] !== undefined)
    return (
      listOf(required).every((name) => Object.hasOwn(value, name as string)) &&
      literals.every(([name, member]) => !isNode(member) || !leftOut(member["enum"], value[name]))
    )
  }
}

const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
/** Whether a list of allowed values excludes this one. */
const leftOut = (choices: unknown, value: unknown): boolean => Array.isArray(choices) && !choices.includes(value)
