/**
 * Likeness of a client's and a listed name with the same birth date. Three more comparisons count there. Two of them count only
 * at a likeness of at least `veryLike`: the words that both names have (so that extra or missing given names do not matter), and
 * all letters without spaces. The third compares the words of the shorter name one by one, for names of one word and for other
 * spellings (F26).
 */
import { consonantsOf } from "./consonants.ts"
import { bitOf, nameScore, type NameForms, type PersonForms, distinctive, weighty } from "./nameForms.ts"
import { isAlike, jaroNeeded, jaroWinkler, maxPrefix, pairsNeeded } from "./nameMatch.ts"

/** The likeness that is required when the birth date differs. */
const veryLike = 0.9

/** The likeness of names with an equal birth date, 0 to 1. */
export const sameDayScore = (person: PersonForms, listed: NameForms): number =>
  Math.max(wholeScore(person, listed), wordByWord(person, listed))

/** The likeness without the word-by-word comparison. */
export const wholeScore = (person: PersonForms, listed: NameForms): number =>
  Math.max(nameScore(person, listed), moreThanNames(person, listed))

/** Whether one of the additional comparisons for an equal birth date counts. */
export const isNamesake = (person: PersonForms, { full }: NameForms): boolean => {
  if (person.full === "" || full === "") return false
  readWords(full)
  return inCommon(person, full) > 0 || pairedWords(person, full) > 0
}

/** The higher likeness, by common words or by all letters; 0 when neither counts. */
const moreThanNames = (person: PersonForms, { full }: NameForms): number => {
  if (person.full === "" || full === "") return 0
  readWords(full)
  return inCommon(person, full)
}

const inCommon = (person: PersonForms, full: string): number => {
  const words = mayHaveTwo(person) ? commonWords(person, full) : 0
  const letters = maySpellAlike(person) ? lettersInCommon(person.full, full) : 0
  return Math.max(words >= veryLike ? words : 0, letters >= veryLike ? letters : 0)
}

/**
 * The highest word-by-word likeness. It allows a possible match but never a hit: with birth date and country the score stays
 * below 0.95.
 */
const mostByWords = 0.93
/** The minimum likeness for a name of one word, which no other word confirms. */
const loneWordLike = 0.95
/** The minimum likeness of two spellings of one word with equal consonants. */
const spellingLike = 0.78

/**
 * Compares each word of the shorter name with its best partner in the other name, weighted by length. The result is 0 unless
 * every word has a partner of its own that is very similar or another spelling. So it finds a name that is a part of the
 * other, even with every word spelt differently.
 */
export const wordByWord = (person: PersonForms, { full }: NameForms): number => {
  if (person.full === "" || full === "") return 0
  readWords(full)
  return pairedWords(person, full)
}

const pairedWords = (person: PersonForms, full: string): number => {
  if (!mayPairUp(person)) return 0
  const mine = person.distinctive.map(({ word }) => word)
  const theirs = distinctive(full.split(" "))
  const [shorter, longer] = mine.length <= theirs.length ? [mine, [...theirs]] : [theirs, [...mine]]
  let like = 0
  let letters = 0
  // Equal words pair first, so that no other word takes their partner.
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

/** A fast pre-check: false when fewer than two words (fewer than one, for a name of one word) can have a partner. */
const mayPairUp = ({ distinctive: words }: PersonForms): boolean => {
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

/** The index and likeness of the best partner of a word; index -1 when it has none. `spelt`: other spellings count too. */
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

/** Removes the letter that some romanisations put before a vowel (Fyodor, Iurii), and writes I, Y and IY as I. */
const withOneI = (word: string): string => word.replace(/[IJY](?=[AEOU])/g, "").replace(/[IJY]+/g, "I")

const space = 0x20

/** The number of set bits. */
const bitsIn = (mask: number): number => {
  let pairs = mask - ((mask >>> 1) & 0x5555_5555)
  pairs = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333)
  return Math.imul((pairs + (pairs >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
}

/**
 * The current listed name: letters, length, first character and consonants of each word, and the letters of the whole name.
 * It is prepared once for all clients.
 */
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

const readWords = (full: string): void => {
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

/** Whether two of the client's words can be very similar to words of the current listed name, judged by missing letters. */
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

/** The length of the longest words whose bounds are precomputed. */
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
 * The most letters of a word that a very similar word may lack, by the lengths of both words. Negative when words of these
 * lengths can't be very similar.
 */
const mayLack = (prefix: number, length: number, other: number): number =>
  length > longest || other > longest ? length : lacks[prefix === 0 ? 0 : 1]![length]![other]!

/** Whether nine tenths of the letters may be equal, judged by missing letters on either side. */
const maySpellAlike = ({ letters, mask }: PersonForms): boolean => {
  const needed = (veryLike * (letters + seen.letters)) / 2 - 1e-9
  return (
    seen.words === mostWords ||
    (bitsIn(mask & ~seen.mask) <= letters - needed && bitsIn(seen.mask & ~mask) <= seen.letters - needed)
  )
}

/** The number of occurrences of each character; all zero between two comparisons. */
const counts = new Int16Array(0x1_0000)

/** The share of letters that both texts have, 0 to 1. */
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
 * Likeness of the words that a client's and a listed name have in common. It is 0 unless at least two words are common. The
 * common words must be all words of the entry, or all words of the last name and one more (the same holds for the first name,
 * because the fields may be exchanged). So twins, who share only the last name, do not match.
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

/** Pairs each word with an equal or very similar word in `free`, and removes the partners from `free`. */
const pairWords = (words: ReadonlyArray<string>, free: Array<string>): ReadonlyMap<string, string> => {
  const partners = new Map<string, string>()
  const take = (word: string, place: number): void => {
    for (const partner of place < 0 ? [] : free.splice(place, 1)) partners.set(word, partner)
  }
  for (const word of words) take(word, free.indexOf(word))
  for (const word of words) if (!partners.has(word)) take(word, bestOf(word, free))
  return partners
}

/** The index of the most similar word among the very similar ones; -1 when there is none. */
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
