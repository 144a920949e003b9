// An utterance that comes in pieces, each of which is final for the vendor before the utterance has ended.
import type { HeardWords } from './dialect.ts'

export class Utterance {
  #pieces: HeardWords[] = []

  add(piece: HeardWords): void {
    if (piece.text !== '') this.#pieces.push(piece)
  }

  /** Returns the pieces with words that may still change. */
  with(words: HeardWords): HeardWords {
    return joined([...this.#pieces, words], false)
  }

  /** Ends the utterance. Returns its words, or undefined if there are none. */
  end(evt?: unknown): HeardWords | undefined {
    if (this.#pieces.length === 0) return undefined
    const all = joined(this.#pieces, true)
    this.#pieces = []
    return evt === undefined ? all : { ...all, evt }
  }
}

/** Joins pieces by spaces. The message, the language and the end are those of the last. */
export function joined(pieces: readonly HeardWords[], isFinal: boolean): HeardWords {
  const spoken = pieces.filter(({ text }) => text !== '')
  const [first] = spoken
  const last = pieces.at(-1)
  if (last === undefined || first === undefined || spoken.length < 2)
    return { ...(first ?? last ?? nothing), isFinal, evt: last?.evt }
  return {
    ...last,
    isFinal,
    text: spoken.map(({ text }) => text).join(' '),
    confidence: spoken.reduce((sum, { confidence }) => sum + confidence, 0) / spoken.length,
    startMs: first.startMs,
    others: [],
  }
}

const nothing: HeardWords = { type: 'words', text: '', confidence: 0, isFinal: false, evt: undefined }
