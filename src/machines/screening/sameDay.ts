/**
 * Likeness of a client's and a listed name with the same birth date. Besides the likeness of the whole names, three likenesses
 * count. Words in common: extra or missing given names do not matter. Letters in common: spaces do not matter. These two count
 * from `veryLike` on. Word by word: the words of the shorter name decide, for names of one word and for other spellings (F26).
 */
import { consonantsOf } from "./consonants.ts"
import { bitOf, nameScore, type NameForms, type PersonForms, telling, weighty } from "./nameForms.ts"
import { isAlike, jaroNeeded, jaroWinkler, maxPrefix, pairsNeeded } from "./nameMatch.ts"

/** The likeness required where the birth date differs. */
const veryLike = 0.9

/** The name score for an equal birth date, 0 to 1. */
export const sameDayScore = (person: PersonForms, listed: NameForms): number =>
  Math.max(wholeScore(person, listed), wordByWord(person, listed))

/** The likeness without the word-by-word part. */
export const wholeScore = (person: PersonForms, listed: NameForms): number =>
  Math.max(nameScore(person, listed), moreThanNames(person, listed))

/** Whether one of the additional likenesses counts. */
export const isNamesake = (person: PersonForms, { full }: NameForms): boolean => {
  if (person.full === "" || full === "") return false
  look(full)
  return inCommon(person, full) > 0 || pairedWords(person, full) > 0
}

/** The better of the likenesses of common words and of all letters; 0 when neither counts. */
const moreThanNames = (person: PersonForms, { full }: NameForms): number => {
  if (person.full === "" || full === "") return 0
  look(full)
  return inCommon(person, full)
}

const inCommon = (person: PersonForms, full: string): number => {
  const words = mayHaveTwo(person) ? commonWords(person, full) : 0
  const letters = maySpellAlike(person) ? lettersInCommon(person.full, full) : 0
  return Math.max(words >= veryLike ? words : 0, letters >= veryLike ? letters : 0)
}

/** A word-by-word match is a possible match and never a hit: with birth date and country the score stays below 0.95. */
const mostByWords = 0.93
/** The least likeness for a name of one word, which no other word confirms. */
const loneWordLike = 0.95
/** The least likeness, apart from consonants, of two spellings of one word. */
const spellingLike = 0.78

/**
 * Compares each word of the shorter name with its best partner in the other name, weighted by length. The result is 0 unless
 * every word has its own partner, either very like it or another spelling. So one name may be a part of the other, with every
 * word spelt differently.
 */
export const wordByWord = (person: PersonForms, { full }: NameForms): number => {
  if (person.full === "" || full === "") return 0
  look(full)
  return pairedWords(person, full)
}

const pairedWords = (person: PersonForms, full: string): number => {
  if (!mayPairUp(person)) return 0
  const mine = person.telling.map(({ word }) => word)
  const theirs = telling(full.split(" "))
  const [shorter, longer] = mine.length <= theirs.length ? [mine, [...theirs]] : [theirs, [...mine]]
  let like = 0
  let letters = 0
  // Equal words pair first, so that no other word takes an equal partner.
  for (const word of [
    ...shorter.filter((each) => longer.includes(each)),
    ...shorter.filter((each) => !longer.includes(each))
  ]) {
    const [place, most] = bestPartner(word, longer, shorter.length > 1)
    if (place < 0) return 0
    longer.splice(place, 1)
    like += word.length * most
    letters += word.length
  }
  return Math.min(mostByWords, like / letters)
}

/** A fast pre-check: without two possible partners (one for a name of one word), not every word can have one. */
const mayPairUp = ({ telling: words }: PersonForms): boolean => {
  if (seen.words === mostWords) return true
  let left = Math.min(2, words.length, seen.words)
  for (const { word, mask, consonants } of words) {
    for (let theirs = 0; theirs < seen.words; theirs += 1) {
      const isLike =
        consonants === seen.consonants[theirs] ||
        (word.charCodeAt(0) === seen.heads[theirs] &&
          bitsIn(mask & ~seen.masks[theirs]!) <= mayLack(maxPrefix, word.length, seen.lengths[theirs]!))
      if (!isLike) continue
      left -= 1
      break
    }
    if (left <= 0) return true
  }
  return false
}

/** The index and likeness of the best partner of a word; index -1 without one. `spelt`: other spellings count. */
const bestPartner = (word: string, others: ReadonlyArray<string>, spelt: boolean): readonly [number, number] => {
  let place = -1
  let most = 0
  for (const [at, other] of others.entries()) {
    const likeness = partnerLikeness(word, other, spelt)
    if (likeness > most) [place, most] = [at, likeness]
  }
  return [place, most]
}

const partnerLikeness = (word: string, other: string, spelt: boolean): number => {
  if (word[0] === other[0] && isAlike(word, other, spelt ? veryLike : loneWordLike)) return jaroWinkler(word, other)
  return spelt && isSpelling(word, other) ? veryLike : 0
}

const isSpelling = (one: string, other: string): boolean =>
  consonantsOf(one) === consonantsOf(other) && isAlike(withOneI(one), withOneI(other), spellingLike)

/** Drops the letter that some romanisations put before a vowel (Fyodor, Iurii), and writes I, Y and IY as I. */
const withOneI = (word: string): string => word.replace(/[IJY](?=[AEOU])/g, "").replace(/[IJY]+/g, "I")

const space = 0x20

/** How many bits are set. */
const bitsIn = (mask: number): number => {
  let pairs = mask - ((mask >>> 1) & 0x5555_5555)
  pairs = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333)
  return Math.imul((pairs + (pairs >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
}

/** The current listed name: letters, length, first character and consonants of each word, and the letters of the whole name. */
const mostWords = 256
const seen = {
  words: 0,
  letters: 0,
  mask: 0,
  masks: new Int32Array(mostWords),
  lengths: new Int32Array(mostWords),
  heads: new Int32Array(mostWords),
  consonants: new Int32Array(mostWords)
}

const look = (full: string): void => {
  seen.words = seen.letters = seen.mask = 0
  let from = 0
  for (let to = 0; to <= full.length && seen.words < mostWords; to += 1) {
    if (to < full.length && full.charCodeAt(to) !== space) continue
    let mask = 0
    for (let i = from; i < to; i += 1) mask |= bitOf(full.charCodeAt(i))
    seen.masks[seen.words] = mask
    seen.lengths[seen.words] = to - from
    seen.heads[seen.words] = full.charCodeAt(from)
    seen.consonants[seen.words] = consonantsOf(full, from, to)
    seen.words += 1
    seen.letters += to - from
    seen.mask |= mask
    from = to + 1
  }
}

/**
 * A fast pre-check: false if fewer than two of the client's words can be very like a word of the current listed name, because
 * of the letters that it lacks.
 */
const mayHaveTwo = ({ words, masks }: PersonForms): boolean => {
  let found = 0
  for (let mine = 0; mine < words.length && found < 2; mine += 1) {
    const word = words[mine]!
    for (let theirs = 0; theirs < seen.words; theirs += 1) {
      const prefix = word.charCodeAt(0) === seen.heads[theirs] ? maxPrefix : 0
      if (bitsIn(masks[mine]! & ~seen.masks[theirs]!) > mayLack(prefix, word.length, seen.lengths[theirs]!)) continue
      found += 1
      break
    }
  }
  return found >= 2 || seen.words === mostWords
}

/** Longest words whose bounds are precomputed. */
const longest = 32
const lacks = [0, maxPrefix].map((prefix) =>
  Array.from({ length: longest + 1 }, (_row, a) =>
    Int8Array.from({ length: longest + 1 }, (_cell, b) => {
      const needed = a === 0 || b === 0 ? 0 : pairsNeeded(jaroNeeded(veryLike, prefix), a, b)
      return needed > Math.min(a, b) ? -1 : a - needed
    })
  )
)

/**
 * The number of letters that a word may lack in a very like word, by their lengths; negative if no word of the other length is
 * very like it.
 */
const mayLack = (prefix: number, length: number, other: number): number =>
  length > longest || other > longest ? length : lacks[prefix === 0 ? 0 : 1]![length]![other]!

/** A fast pre-check: false if too many letters are missing on either side for nine tenths of all letters to be equal. */
const maySpellAlike = ({ letters, mask }: PersonForms): boolean => {
  const needed = (veryLike * (letters + seen.letters)) / 2 - 1e-9
  return (
    seen.words === mostWords ||
    (bitsIn(mask & ~seen.mask) <= letters - needed && bitsIn(seen.mask & ~mask) <= seen.letters - needed)
  )
}

/** How often each character occurs; zero between two pairs of texts. */
const counts = new Int16Array(0x1_0000)

/** The letters that both texts have as a share of all, 0 to 1. */
const lettersInCommon = (a: string, b: string): number => {
  let all = 0
  for (let i = 0; i < a.length; i += 1) {
    const code = a.charCodeAt(i)
    if (code === space) continue
    counts[code]! += 1
    all += 1
  }
  let common = 0
  for (let i = 0; i < b.length; i += 1) {
    const code = b.charCodeAt(i)
    if (code === space) continue
    all += 1
    if (counts[code]! <= 0) continue
    counts[code]! -= 1
    common += 1
  }
  for (let i = 0; i < a.length; i += 1) counts[a.charCodeAt(i)] = 0
  return (2 * common) / all
}

/**
 * Likeness of the words that a client's and a listed name have in common. It is 0 unless at least two words are common. These
 * must also be all of the entry's words, or all words of the client's last name or first name and at least one more. Twins
 * share only the last name.
 */
const commonWords = ({ first, last, words }: PersonForms, full: string): number => {
  const free = [...weighty(full.split(" "))]
  const partners = pairWords(words, free)
  if (partners.size < 2) return 0
  const isCommon = (word: string): boolean => partners.has(word)
  const holds = (field: ReadonlyArray<string>): boolean => partners.size > field.length && field.every(isCommon)
  if (free.length > 0 && !holds(last) && !holds(first)) return 0
  const mine = words.filter(isCommon)
  return jaroWinkler(mine.join(" "), mine.map((word) => partners.get(word)).join(" "))
}

/** The partner in `free` of each word that has an equal or a very like word there; partners are removed from `free`. */
const pairWords = (words: ReadonlyArray<string>, free: Array<string>): ReadonlyMap<string, string> => {
  const partners = new Map<string, string>()
  const take = (word: string, place: number): void => {
    for (const partner of place < 0 ? [] : free.splice(place, 1)) partners.set(word, partner)
  }
  for (const word of words) take(word, free.indexOf(word))
  for (const word of words) if (!partners.has(word)) take(word, bestOf(word, free))
  return partners
}

/** The index of the most similar word among the very like ones; -1 without one. */
const bestOf = (word: string, words: ReadonlyArray<string>): number => {
  let place = -1
  let most = 0
  for (const [at, other] of words.entries()) {
    if (!isAlike(word, other, veryLike)) continue
    const likeness = jaroWinkler(word, other)
    if (likeness > most) [place, most] = [at, likeness]
  }
  return place
}
