/**
 * The sandbox's names and values as Markdown, generated from the machines: a section of the reference at /docs, and the page
 * docs/sandbox.md (operator surface, Developers and QA).
 */
import { markdownTable } from "./markdownTable.ts"
import { sandboxNames } from "../../machines/sandbox/sandboxNames.ts"
import { sandboxOutcomes } from "../../machines/sandbox/sandboxOutcomes.ts"

const whenOf = (steps: ReadonlyArray<{ readonly afterMillis: number }>): string =>
  steps.length === 0 ? "at once" : `after ${steps.map(({ afterMillis }) => `${afterMillis / 1_000} s`).join(", ")}`

/** The Markdown below the heading, which is the same in both places. */
export const sandboxText = (): string =>
  [
    "Only a service started with `--sandbox` knows these names; other services treat them like any other name. Put the last",
    "name into `kyc.personalInfo.last_name` of POST /clients; the other names and all other values are free. Decisions come",
    "by themselves, the given seconds of business time after the onboarding (`sim clock advance` moves that time); one",
    "that the client's state refuses is tried again every 10 seconds for ten minutes. A name that is on the watch list counts",
    "in PUT .../kyc too; only an onboarding leads to decisions.",
    "",
    ...markdownTable([
      ["last_name", "Decided", "Effect"],
      ...sandboxNames.map(({ lastName, steps, shows }) => [`\`${lastName}\``, whenOf(steps), shows])
    ]),
    "",
    "Every state of every machine, and how a sandbox brings it about: by the partner's own requests, or by a command of the",
    "operator. A final state is never left.",
    "",
    ...markdownTable([
      ["Machine", "State", "By", "How"],
      ...sandboxOutcomes.map(({ machine, state, final, by, how }) => [
        `\`${machine}\``,
        final ? `\`${state}\`, final` : `\`${state}\``,
        by,
        how
      ])
    ])
  ].join("\n")
