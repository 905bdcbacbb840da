/** The text of an action of the tour: its request as lines to paste, and the members of its answer that the screen shows. */
import { quoted } from "../../src/machines/shared/Text.ts"
import { defaultDataDir } from "../connection.ts"
import type { TourAction, TourStep } from "./tourSteps.ts"

/** Where the printed lines find the service and the demo's files. */
export interface TourPlace {
  /** Address of the service. */
  readonly url: string
  /** The data directory, as the command line names it. */
  readonly dataDir: string
  /** The folder of the tour's files. */
  readonly folder: string
}

/** A longer body is broken after its commas; line breaks between members change nothing. */
const widestBody = 66

/** The request as a shell line over several rows, or the command line. `filled`: the action with its placeholders replaced. */
export const requestLines = (
  filled: TourAction,
  { url, dataDir, folder }: TourPlace,
  method?: "DELETE"
): ReadonlyArray<string> => {
  if ("command" in filled) {
    const isOwn = dataDir === defaultDataDir || filled.command.endsWith("--own")
    return [`brokerage ${filled.command}${isOwn ? "" : ` --data-dir ${quoted(dataDir)}`}`]
  }
  const { body, saves, path } = filled
  const address = `${url}/partner/v1${path}`
  return [
    `curl -K ${quoted(`${dataDir}/demo.curl`)} \\`,
    ...(method === undefined ? [] : [`  -X ${method} \\`]),
    ...(saves === undefined ? [] : [`  -o ${quoted(`${folder}/${saves}`)} \\`]),
    ...(body === undefined
      ? []
      : bodyLines(typeof body === "string" ? `'${body}'` : `@${quoted(`${folder}/${body.file}`)}`)),
    `  ${/[?&]/.test(address) ? `'${address}'` : address}`
  ]
}

const bodyLines = (text: string): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const part of text.length <= widestBody ? [text] : text.split(/(?<=,)/)) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + part.length <= widestBody) lines[lines.length - 1] = last + part
    else lines.push(part)
  }
  return lines.map((line, i) => `${i === 0 ? "  -d " : "      "}${line}${i === lines.length - 1 ? " \\" : ""}`)
}

/** Replaces the placeholders of a text; one without a value stays as it is. */
export const fill = (text: string, values: ReadonlyMap<string, string>): string =>
  text.replaceAll(/\{([a-z]+)\}/g, (whole, name: string) => values.get(name) ?? whole)

/** The action with its placeholders replaced. */
export const filledAction = (action: TourAction, values: ReadonlyMap<string, string>): TourAction =>
  "command" in action
    ? { ...action, command: fill(action.command, values) }
    : {
        ...action,
        path: fill(action.path, values),
        ...(typeof action.body === "string" ? { body: fill(action.body, values) } : {})
      }

/** The members at a path such as `data.items.0.state`, as text; none when the answer has no such member. `*` stands for every row of a list. */
export const memberOf = (answer: unknown, path: string): ReadonlyArray<string> =>
  path
    .split(".")
    .reduce<ReadonlyArray<unknown>>(
      (found, name) =>
        found.flatMap((value) => {
          if (typeof value !== "object" || value === null) return []
          if (name === "*") return Object.values(value)
          const member: unknown = Reflect.get(value, name)
          return member === undefined ? [] : [member]
        }),
      [answer]
    )
    .map((value) => (typeof value === "object" && value !== null ? JSON.stringify(value) : String(value)))

/** Rows of a list that the screen shows. */
const shownRows = 3

/** The shortened answer: one line, or a line for each of the first rows of a list. */
export const answerLines = ({ shows = [], rows }: TourAction, answer: unknown): ReadonlyArray<string> => {
  const line = (from: unknown): string =>
    shows
      .flatMap((path) => memberOf(from, path).map((value) => `${path.split(".").at(-1) ?? path} ${value}`))
      .join(", ")
  if (rows === undefined) return shows.length === 0 ? [] : [line(answer)]
  const list = rows.split(".").reduce<unknown>((value, name) => Reflect.get(Object(value), name), answer)
  if (!Array.isArray(list) || list.length === 0) return ["no rows"]
  const more = list.length - shownRows
  return [...list.slice(0, shownRows).map(line), ...(more > 0 ? [`and ${more} more`] : [])]
}

/** `docs/tour.md`: every step with its requests, the shown members of the answers, and the webhooks. */
export const tourPage = (steps: Readonly<Record<string, TourStep>>): string => {
  const place = { url: "https://127.0.0.1:8443", dataDir: ".brokerage", folder: ".brokerage/tour" }
  const values = new Map([["client", "1"]])
  const parts = Object.entries(steps).flatMap(([name, { sentence, needs = {}, actions }]) => {
    const needed = [
      ...(needs.price === undefined ? [] : [`the price of ${needs.price[0]} at ${needs.price[1]}`]),
      ...(needs.cash === undefined ? [] : [`${needs.exact ? "exactly" : "at least"} ${needs.cash} USDC of cash`]),
      ...(needs.flat === undefined ? [] : ["neither open orders nor positions"])
    ]
    return [
      `## ${name}`,
      "",
      sentence,
      ...(needed.length === 0 ? [] : ["", `The step first brings about: ${needed.join(", ")}.`]),
      ...actions.flatMap((action, i) => [
        "",
        `${i + 1}. ${action.purpose}`,
        "",
        "   ```sh",
        ...requestLines(filledAction(action, values), place).map((line) => `   ${line}`),
        "   ```",
        ...resultOf(action)
      ]),
      ""
    ]
  })
  return [
    "# The tour",
    "",
    "<!-- Generated by scripts/generateTour.ts from cli/tour/tourSteps.ts. Do not edit. -->",
    "",
    "`brokerage tour` plays these steps on the running demo (`npm start`), and `brokerage tour STEP` plays one of them. The",
    "command prints each request, the members of the answer named here, and the webhooks that came. On a terminal it waits for",
    "Enter after each request. A step works in any order, and repeatedly: it first brings about the price and the money that it",
    "needs, and prints how. It waits up to 30 s for a market that was just resumed and for the end of a close-out. Files land in",
    "the folder `tour` of the data directory. A name in braces is a value that an earlier answer gave; `{ref}`, `{from}` and",
    "`{to}` are a new reference and two times in Unix ms.",
    "",
    ...parts
  ].join("\n")
}

const resultOf = ({ shows = [], rows, events = [], ...action }: TourAction): ReadonlyArray<string> => {
  const code = (names: ReadonlyArray<string>) => names.map((name) => `\`${name}\``).join(", ")
  const list = rows === undefined ? "" : ` of the rows of \`${rows}\``
  return [
    ...(shows.length === 0 ? [] : ["", `   Answer: ${code(shows)}${list}.`]),
    ...("saves" in action && action.saves !== undefined ? ["", `   File: \`${action.saves}\`.`] : []),
    ...(events.length === 0 ? [] : ["", `   Webhook: ${code(events)}.`])
  ]
}
