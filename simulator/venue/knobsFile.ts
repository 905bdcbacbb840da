/** Reads a tester's YAML files for the simulated venue; problems name file and line. */
import type { Base } from "./core/defaultMarkets.ts"
import { readKnobs as knobsOf, readMarkets as marketsOf } from "./core/readKnobs.ts"
import type { Read } from "./core/readYaml.ts"
import type { VenueKnobs } from "./core/VenueKnobs.ts"

/** Limit on the problems that one answer names. */
const mostProblems = 5

/** The knobs of a text (`sim venue set`), or its problems as a sentence. */
export const readKnobs = (text: string, fileName: string): VenueKnobs | string => named(knobsOf(text), fileName)

/** The markets of a text (`sim venue serve --markets`), or its problems as a sentence. */
export const readMarkets = (text: string, fileName: string): ReadonlyArray<Base> | string =>
  named(marketsOf(text), fileName)

const named = <A>(read: Read<A>, fileName: string): A | string =>
  read.ok
    ? read.value
    : read.problems
        .slice(0, mostProblems)
        .map(({ line, message }) => `${fileName}, line ${line}: ${message}`)
        .join("\n")
