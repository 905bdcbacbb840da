/** The words that CONTRIBUTING.md replaces by the terms of the field, and their places in comments and in names. */

/** `asks` may be the sell side of a book. */
const spoken =
  /\b(?:hear[ds]?|told|tells|sa(?:id|ys)|asked|(?<!\bbids(?:,| and) )asks|none of|anew|whoever|nobody|somebody)\b/i
/** A text without these parts has none of the words. */
const mayBeSpoken = /hear|told|tells|sa(?:id|ys)|asked|asks|none of|anew|whoever|nobody|somebody/i

interface Kept {
  readonly names: ReadonlyArray<string>
  readonly files: RegExp
  readonly reason: string
}

/** Names that stay, because stored data or other programs depend on them. */
const keptNames: ReadonlyArray<Kept> = [
  { names: ["asks"], files: /./, reason: "the sell side of an order book" },
  {
    names: ["asked", "askedFor"],
    files: /^src\/(?:machines\/order\/(?:Attachment|attachmentSamples|protectionPlan)|runtime\/.+\/protection)\.ts$/,
    reason: "stored with the legs of an attachment"
  },
  {
    names: ["said"],
    files:
      /^src\/(?:machines\/contract\/contract(?:Machine)?|runtime\/(?:ports\/LevelReadsMemory|.+\/NearLevels))\.ts$/i,
    reason: "stored with a contract"
  },
  { names: ["said"], files: /^simulator\/venue\/core\/Feed\.ts$/, reason: "stored in the simulated venue's snapshots" },
  {
    names: ["asked"],
    files: /(?:^|\/)(?:MachineGroup|Inspect|machine)\.ts$/,
    reason: "a member of the answer of `machine inspect`"
  },
  { names: ["freezesAnew"], files: /clientMachine\.ts$/, reason: "a guard, which the published diagram names" }
]

const commentsOf = (text: string): string =>
  (text.match(/\/\*[^]*?\*\/|(?:^|\s)\/\/ .*/gm) ?? []).join("\n").replaceAll(/`[^`]*`/g, "")

/** A comment, a text, a regular expression, a name, or the start or end of a template or block. */
const inCode =
  /\/\*[^]*?\*\/|\/\/.*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|(?<=[=(,:?&|![\n] ?)\/(?![/*])(?:\\.|\[(?:\\.|[^\]\n])*\]|[^/\\\n[])+\/|[`{}]|[A-Za-z_$][\w$]*/g
const inTemplate = /`|\$\{|\\[^]/g

const namesOf = (text: string): ReadonlySet<string> => {
  const names = new Set<string>()
  const open: Array<string> = []
  for (let at = 0; ;) {
    const pattern = open.at(-1) === "`" ? inTemplate : inCode
    pattern.lastIndex = at
    const [token] = pattern.exec(text) ?? []
    if (token === undefined) return names
    at = pattern.lastIndex
    if (token === "}" || (token === "`" && pattern === inTemplate)) open.pop()
    else if (/^(?:`|\{|\$\{)$/.test(token)) open.push(token)
    else if (pattern === inCode && /^[\w$]/.test(token)) names.add(token)
  }
}

const isSpoken = (name: string): boolean => spoken.test(name.replaceAll(/[A-Z]+/g, " $&").replaceAll("_", " "))

/** The first of the words in a comment, and the names with one of them. Names in backticks and names that stay do not count. */
export const spokenPlaces = (file: string, text: string): ReadonlyArray<string> => {
  if (!mayBeSpoken.test(text)) return []
  const stays = (name: string) => keptNames.some(({ names, files }) => names.includes(name) && files.test(file))
  return [
    ...(spoken.exec(commentsOf(text))?.slice(0, 1) ?? []).map((word) => `a comment with ${word}`),
    ...[...namesOf(text)].filter((name) => isSpoken(name) && !stays(name)).map((name) => `the name ${name}`)
  ]
}

/** Names that stay although none of their files has any more. */
export const unusedNames = (files: ReadonlyMap<string, string>): ReadonlyArray<string> =>
  keptNames.flatMap((kept) =>
    kept.names.filter(
      (name) => ![...files].some(([file, text]) => kept.files.test(file) && new RegExp(`\\b${name}\\b`).test(text))
    )
  )
