/**
 * Parses a scenario file into a Scenario, or into all of its faults, each with its line and the probable intention. Pure: the
 * schema (Scenario.ts) defines the form, this file finds the place in the text.
 */
import { Schema, SchemaIssue } from "effect"
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLError
} from "yaml"
import { closest } from "../../../src/machines/shared/closest.ts"
import { compareDecimals, Matcher, type MatcherName, matchers } from "./matching.ts"
import {
  type KillStep,
  type Need,
  type Scenario,
  ScenarioForm,
  type SentStep,
  type Step,
  stepForms,
  type StepKind
} from "./Scenario.ts"
import { complaintOf, isRead } from "./vocabulary.ts"

export interface Complaint {
  readonly line: number
  readonly sentence: string
}

/** The largest scenario file that is read, bytes. */
export const largestFile = 256 * 1024
const mostNodes = 20_000
/** Limit on nesting; a cyclic alias reaches it too. */
const deepest = 50
const mostComplaints = 20

/** The scenario or its faults: each once, in order of lines, at most `mostComplaints`. */
export const readScenario = (file: string, text: string): Scenario | ReadonlyArray<Complaint> => {
  const reader = new Reader(text)
  const scenario = reader.read(file)
  return reader.complaints.length === 0 && scenario !== null ? scenario : shortened(reader.complaints)
}

/** Each fault once, in order of lines, at most `mostComplaints`. */
export const shortened = (complaints: ReadonlyArray<Complaint>): ReadonlyArray<Complaint> => {
  const different = new Map(complaints.map((each) => [`${each.line}: ${each.sentence}`, each]))
  const all = [...different.values()].toSorted((a, b) => a.line - b.line)
  const [next] = all.slice(mostComplaints)
  if (next === undefined) return all
  return [...all.slice(0, mostComplaints), { line: next.line, sentence: `and ${all.length - mostComplaints} more` }]
}

/** The sentence for invalid YAML, or several documents. */
const sentenceOf = ({ code, message }: YAMLError): string => {
  if (code === "MULTIPLE_DOCS") return "a file can have only one scenario"
  return message.startsWith("Maximum call stack") ? tooDeep : (message.split(" at line")[0] ?? message)
}

class Reader {
  readonly complaints: Array<Complaint> = []
  private readonly lines = new LineCounter()
  private readonly document: Document
  /** Nodes with a fault; consequences of the fault are not reported. */
  private readonly faulty = new Set<Node>()
  private nodes = 0
  private unreadable = false

  constructor(text: string) {
    const whole = text.length <= largestFile
    // "silent" would hide the warning about a second document, which would never run.
    this.document = parseDocument(whole ? text : "", { lineCounter: this.lines, logLevel: "error", uniqueKeys: true })
    if (!whole) this.complaints.push({ line: 1, sentence: "a scenario has at most 256 KiB" })
    for (const error of this.document.errors) {
      this.complaints.push({ line: this.lines.linePos(error.pos[0]).line, sentence: sentenceOf(error) })
    }
  }

  read(file: string): Scenario | null {
    if (this.complaints.length > 0) return null
    const root = this.document.contents as Node | null
    const raw = this.valueOf(root, 0)
    if (this.unreadable) return null
    const form = this.decode(ScenarioForm, raw, root, "a scenario")
    if (form === null) return null
    const stepsNode = childOf(root, "steps")
    const steps = form.steps.flatMap((step, index) => this.step(step, childOf(stepsNode, index)) ?? [])
    this.checkNames(steps, ["partner", ...Object.keys(form.given?.partners ?? {})])
    const own = form.own === true || steps.some(({ kind }) => kind === "kill")
    return {
      file,
      id: form.id,
      title: form.title,
      given: form.given ?? {},
      alone: form.alone ?? (own || steps.some(movesTime)),
      own,
      steps,
      needs: needsOf(steps, own)
    }
  }

  private step(raw: unknown, node: Node | null): Step | null {
    if (node !== null && this.faulty.has(node)) return null
    const line = this.lineOf(node)
    const kinds = Object.keys(stepForms) as ReadonlyArray<StepKind>
    const keys = typeof raw === "object" && raw !== null ? Object.keys(raw) : []
    const found = kinds.filter((kind) => keys.includes(kind))
    const [kind] = found
    if (kind === undefined) {
      const meant = closest(keys[0] ?? "", kinds)
      return this.complain(line, `a step begins with one of ${kinds.join(", ")}${meant}`)
    }
    if (found.length > 1) return this.complain(line, `a step can have only one of ${found.join(", ")}`)
    const form = this.decode<object>(stepForms[kind], raw, node, `a step of ${kind}`)
    if (form === null) return null
    const step = this.checked({ ...form, kind, line } as Step)
    if (step?.kind === "together") {
      return { ...step, together: this.sent(step.together, childOf(node, "together"), "together") }
    }
    if (step?.kind !== "kill") return step
    const during = this.sent(step.during ?? [], childOf(node, "during"), "during a kill")
    return { ...step, during }
  }

  /** Parses the steps inside a step. Only steps that are sent and get an answer are allowed there. */
  private sent(raw: ReadonlyArray<unknown>, parts: Node | null, how: string): ReadonlyArray<SentStep> {
    return raw.flatMap((each, at) => {
      const part = this.step(each, childOf(parts, at))
      if (part === null || isSent(part)) return part ?? []
      return this.complain(part.line, `only steps of partner, operator and venue can run ${how}`) ?? []
    })
  }

  /** Checks possible before the run: short names exist, and only reads are repeated. */
  private checked(step: Step): Step | null {
    if (step.kind === "kill") {
      const wrong = killComplaint(step)
      return wrong === null ? step : this.complain(step.line, wrong)
    }
    if (step.kind !== "partner") return step
    const sentence = complaintOf(step.partner)
    if (sentence !== null) return this.complain(step.line, sentence)
    if (step.within === undefined || isRead(step.partner) || step.idempotencyKey !== undefined) return step
    return this.complain(step.line, "within repeats the step, so it needs a read, or a write with an idempotencyKey")
  }

  /** Checks that `by` names an existing partner. */
  private checkNames(steps: ReadonlyArray<Step>, names: ReadonlyArray<string>): void {
    for (const step of sentOf(steps)) {
      if (!("by" in step) || step.by === undefined || names.includes(step.by)) continue
      this.complain(step.line, `given.partners has no partner "${step.by}"${closest(step.by, names)}`)
    }
  }

  private decode<A>(
    schema: Schema.Codec<A, unknown> | Schema.Top,
    raw: unknown,
    node: Node | null,
    what: string
  ): A | null {
    const options = { errors: "all", onExcessProperty: "error" } as const
    const result = Schema.decodeUnknownResult(schema as Schema.Codec<A, unknown>, options)(raw)
    if (result._tag === "Success") return result.success
    for (const { path = [], message } of format(result.failure.issue).issues) {
      const keys = path.map((part) => (typeof part === "object" ? part.key : part) as string | number)
      const [name] = keys.slice(-1)
      const owner = keys.slice(0, -1).reduce<Node | null>(childOf, node)
      const its = name === undefined ? node : childOf(owner, name)
      if (its !== null && this.faulty.has(its)) continue
      if (message === unexpected) {
        const known = knownKeys(schema, keys.slice(0, -1))
        this.complain(this.keyLine(owner, name), `${what} has no key ${String(name)}${closest(String(name), known)}`)
      } else if (message === missing) {
        this.complain(this.lineOf(owner), `${String(name)} is missing from ${what}`)
      } else {
        this.complain(this.lineOf(its ?? owner), `${keys.length === 0 ? what : keys.join(".")} ${message}`)
      }
    }
    return null
  }

  /**
   * Reports a fault that makes the whole file unreadable. Further such faults are consequences, so only the first is reported.
   */
  private giveUp(node: Node, sentence: string): null {
    if (!this.unreadable) this.complain(this.lineOf(node), sentence)
    this.unreadable = true
    return null
  }

  /** Reports a fault; the node's value is null from here on. */
  private fault(node: Node, sentence: string): null {
    this.faulty.add(node)
    return this.complain(this.lineOf(node), sentence)
  }

  private complain(line: number, sentence: string): null {
    this.complaints.push({ line, sentence })
    return null
  }

  private lineOf(node: Node | null): number {
    return this.lines.linePos(node?.range?.[0] ?? 0).line || 1
  }

  private keyLine(owner: Node | null, name: unknown): number {
    const pair = isMap(owner) ? owner.items.find(({ key }) => isScalar(key) && key.value === name) : undefined
    return this.lineOf((pair?.key as Node | undefined) ?? owner)
  }

  /** The plain value of a node; a tag makes it a matcher. */
  private valueOf(node: Node | null, depth: number): unknown {
    if (node === null) return null
    if (++this.nodes > mostNodes) return this.giveUp(node, "a scenario has at most 20,000 values")
    if (depth > deepest) return this.giveUp(node, tooDeep)
    if (isAlias(node)) {
      const meant = node.resolve(this.document)
      if (meant === undefined) return this.giveUp(node, `the alias *${node.source} has no anchor before it`)
      const value = this.valueOf(meant, depth + 1)
      if (this.faulty.has(meant)) this.faulty.add(node)
      return value
    }
    const tag = node.tag
    if (tag === undefined || !tag.startsWith("!")) return this.plainOf(node, depth)
    const name = tag.slice(1)
    if (!Object.hasOwn(matchers, name)) {
      return this.fault(node, `there is no matcher !${name}${closest(name, Object.keys(matchers))}`)
    }
    const value = this.plainOf(node, depth)
    const sentence = this.faulty.has(node) ? null : matcherComplaint(name as MatcherName, value)
    if (sentence !== null) this.fault(node, sentence)
    return new Matcher(name as MatcherName, value)
  }

  private plainOf(node: Node, depth: number): unknown {
    if (isMap(node)) {
      return Object.fromEntries(
        node.items.map(({ key, value }) => [
          String(isScalar(key) ? key.value : key),
          this.valueOf((value as Node | null) ?? null, depth + 1)
        ])
      )
    }
    if (isSeq(node)) return node.items.map((item) => this.valueOf(item as Node, depth + 1))
    if (!isScalar(node)) return null
    // The tag turned the value into text, so unquoted text is parsed again as if it had no tag.
    const tagged = node.tag?.startsWith("!") === true && node.type === "PLAIN"
    const value = tagged ? plainValue(node.source ?? "") : node.value
    if (typeof value !== "number" || Number.isFinite(value)) return value
    return this.fault(node, `${node.source ?? String(value)} is not a number that an answer can contain`)
  }
}

/** The value of unquoted text; text that is no single value stays text. */
const plainValue = (source: string): unknown => {
  const { contents, errors } = parseDocument(source)
  if (contents === null) return null
  return errors.length === 0 && isScalar(contents) ? contents.value : source
}

/** Whether a matcher can compare the value as a number. A text with a variable passes, because the variable has no value yet. */
const isAmount = (value: unknown): boolean =>
  compareDecimals(value, 0) !== null || (typeof value === "string" && value.includes("$"))

/** The fault in the combination of a kill's members. */
const killComplaint = ({ kill, at, client, for: outage, during }: KillStep): string | null => {
  if (kill === "service" && outage !== undefined) return "for applies only to a kill of the database"
  if (kill === "database" && at !== undefined) return "at applies only to a kill of the service"
  const isCommit = (point: string): boolean => point === "before-commit" || point === "after-commit"
  if (client !== undefined && at?.every(isCommit) !== true)
    return "client applies only to kills before and after a commit"
  const steps = (during as ReadonlyArray<unknown> | undefined)?.length ?? 0
  if (kill === "service" && steps !== (at?.length ?? 0)) return "at must name one point for each step of during"
  return kill === "database" && steps > 0 && outage === undefined ? "during requires for" : null
}

/** The fault in a matcher's own value. */
const matcherComplaint = (name: MatcherName, value: unknown): string | null => {
  if (name === "size" && !Number.isInteger(value)) return "!size takes a whole number"
  if (name === "unordered" && !Array.isArray(value)) return "!unordered takes a list"
  if ((name === "above" || name === "below") && !isAmount(value)) return `!${name} takes a number or decimal text`
  if (name !== "matches") return null
  try {
    "".search(new RegExp(String(value), "u"))
    return null
  } catch {
    return "!matches takes a regular expression"
  }
}

const tooDeep = "maps and lists are nested too deeply"
const unexpected = "Unexpected key"
const missing = "Missing key"
const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) =>
    issue._tag === "UnexpectedKey"
      ? unexpected
      : issue._tag === "MissingKey"
        ? missing
        : SchemaIssue.defaultLeafHook(issue)
})

const childOf = (node: Node | null, key: string | number): Node | null => {
  if (isMap(node))
    return (node.items.find((pair) => isScalar(pair.key) && pair.key.value === key)?.value as Node) ?? null
  if (isSeq(node)) return (node.items[Number(key)] as Node | undefined) ?? null
  return null
}

/** Keys of the struct at a path of a schema; empty for other schemas. */
const knownKeys = (schema: unknown, path: ReadonlyArray<string | number>): ReadonlyArray<string> => {
  const fields = (schema as { readonly fields?: Readonly<Record<string, unknown>> }).fields
  const [first, ...rest] = path
  if (fields === undefined) return []
  if (first === undefined) return Object.keys(fields)
  const field = fields[first] as { readonly schema?: unknown; readonly value?: unknown } | undefined
  const inner = field?.schema ?? field
  const values = (inner as { readonly value?: unknown } | undefined)?.value
  return values === undefined ? knownKeys(inner, rest) : knownKeys(values, rest.slice(1))
}

const isSent = (step: Step): step is SentStep =>
  step.kind === "partner" || step.kind === "operator" || step.kind === "venue"

const sentOf = (steps: ReadonlyArray<Step>): ReadonlyArray<Step> =>
  steps.flatMap((step): ReadonlyArray<Step> =>
    step.kind === "together" ? step.together : step.kind === "kill" ? [step, ...step.during] : [step]
  )

const movesTime = ({ kind }: Step): boolean => kind === "clock" || kind === "venue" || kind === "kill"

const needsOf = (steps: ReadonlyArray<Step>, own: boolean): ReadonlyArray<Need> => {
  const all = sentOf(steps)
  const needs: Array<Need> = []
  if (all.some(({ kind }) => kind === "receiver" || kind === "event")) needs.push("webhooks")
  if (all.some((step) => step.kind === "venue" || (step.kind === "partner" && readsMarket(step.partner)))) {
    needs.push("venue")
  }
  if (all.some(({ kind }) => kind === "clock")) needs.push("clock")
  if (own) needs.push("own")
  return needs
}

const marketRoute =
  /^GET \/(instruments|tickers?|klines|orderbook|market-trades|index-price|funding|market-info|trading-status|currencies|staking)\b/
const readsMarket = (line: string): boolean => marketRoute.test(line)
