/** The layout of `--help`: wrapped at words; a meaning stands below its term when both do not fit in one line. */
import type { Help } from "commander"
import { wrapText, wrapWords } from "./views/wrapWords.ts"

/** Least width of a meaning beside its term. */
const leastMeaning = 24
const indent = "  "
/** The space between a term and its meaning on one line. */
const gap = "  "
const below = "      "

export const helpText: Partial<Help> = {
  showGlobalOptions: true,
  minWidthToWrap: 1,
  styleUsage(this: Help, usage: string): string {
    const head = "Usage: "
    return wrapWords(usage, Math.max(1, widthIn(this) - head.length)).join(`\n${" ".repeat(head.length)}`)
  },
  boxWrap: wrapText,
  formatItem(term: string, termWidth: number, description: string, helper: Help): string {
    const width = widthIn(helper)
    const lead = indent.length + termWidth + gap.length
    if (description === "") return `${indent}${term}`
    if (width - lead >= leastMeaning) {
      const lines = wrapWords(description, width - lead)
      return `${indent}${term.padEnd(termWidth)}${gap}${lines.join(`\n${" ".repeat(lead)}`)}`
    }
    const terms = wrapText(`${indent}${term}`, width)
    const meaning = wrapWords(description, Math.max(1, width - below.length)).map((line) => `${below}${line}`)
    return [terms, ...meaning].join("\n")
  }
}

/** The width of the help; 80 columns without a terminal. */
const widthIn = ({ helpWidth = 80 }: Help): number => helpWidth
