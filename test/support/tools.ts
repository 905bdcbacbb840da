/**
 * External programs that tests use. Without a needed one, a test that docs/guarantees.md cites does not run, so
 * `.ci/run` installs it or fails; without an optional one, its tests are skipped. A run ends with the list of its
 * skipped tests.
 */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"

interface Tool {
  /** The Debian package that provides it. */
  readonly package: string
  readonly needed: boolean
  readonly isInstalled: () => boolean
}

const answers =
  (program: string, ...args: ReadonlyArray<string>) =>
  (): boolean =>
    spawnSync(program, args).status === 0
/** Some programs print their version and exit with another status than 0. */
const exists = (program: string) => (): boolean => spawnSync(program, ["-v"]).error === undefined
const poppler = { package: "poppler-utils", needed: true } as const

const tools = {
  qpdf: { package: "qpdf", needed: true, isInstalled: answers("qpdf", "--version") },
  pdftotext: { ...poppler, isInstalled: exists("pdftotext") },
  pdfinfo: { ...poppler, isInstalled: exists("pdfinfo") },
  pdffonts: { ...poppler, isInstalled: exists("pdffonts") },
  pdfdetach: { ...poppler, isInstalled: exists("pdfdetach") },
  "bean-check": { package: "beancount", needed: false, isInstalled: exists("bean-check") },
  mount: {
    package: "mount",
    needed: false,
    // A process may mount in a namespace of its own if the system permits it.
    isInstalled: answers(
      "unshare",
      "--user",
      "--map-root-user",
      "--mount",
      "--",
      "mount",
      "-t",
      "tmpfs",
      "none",
      "/mnt"
    )
  },
  hledger: { package: "hledger", needed: true, isInstalled: answers("hledger", "--version") },
  chromium: { package: "chromium", needed: false, isInstalled: () => chromiumPath !== undefined },
  "rsvg-convert": { package: "librsvg2-bin", needed: false, isInstalled: answers("rsvg-convert", "--version") },
  bash: { package: "bash", needed: false, isInstalled: answers("bash", "--version") },
  fish: { package: "fish", needed: false, isInstalled: answers("fish", "--version") },
  zsh: { package: "zsh", needed: false, isInstalled: answers("zsh", "--version") },
  python3: { package: "python3", needed: true, isInstalled: answers("python3", "--version") },
  go: { package: "golang-go", needed: false, isInstalled: answers("go", "version") },
  javac: { package: "default-jdk-headless", needed: false, isInstalled: answers("javac", "-version") },
  script: { package: "bsdutils", needed: false, isInstalled: answers("script", "-qec", "test -t 0", "/dev/null") }
} as const satisfies Readonly<Record<string, Tool>>

export type ToolName = keyof typeof tools

/** The browser that tests control; undefined if none is installed. */
export const chromiumPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  existsSync
)

const found = new Map<ToolName, boolean>()

/** True if the tool runs on this machine. Each tool is tried once. */
export const hasTool = (name: ToolName): boolean => {
  const known = found.get(name)
  if (known !== undefined) return known
  const installed = tools[name].isInstalled()
  found.set(name, installed)
  return installed
}

/** The end of a test's title with the reason for skipping it; empty if every tool is installed. */
export const skipNote = (...names: ReadonlyArray<ToolName>): string => {
  const missing = names.filter((name) => !hasTool(name))
  return missing.length === 0 ? "" : skippedFor(`${missing.join(", ")} not installed: ${packagesOf(missing).join(" ")}`)
}

/** The end of a title with any other reason. */
export const skippedFor = (reason: string): string => ` (SKIPPED: ${reason})`

/** The reason in a title; null without one. */
export const skipReasonOf = (title: string): string | null => / \(SKIPPED: ([^)]*)\)/.exec(title)?.[1] ?? null

const packagesOf = (names: ReadonlyArray<ToolName>): ReadonlyArray<string> => [
  ...new Set(names.map((name) => tools[name].package))
]

/** Needed tools that are not installed, with their packages. */
export const missingNeeded = (
  has: (name: ToolName) => boolean = (name) => tools[name].isInstalled()
): { readonly names: ReadonlyArray<ToolName>; readonly packages: ReadonlyArray<string> } => {
  const names = (Object.keys(tools) as Array<ToolName>).filter((name) => tools[name].needed && !has(name))
  return { names, packages: packagesOf(names) }
}
