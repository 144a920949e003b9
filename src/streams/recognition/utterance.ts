// An utterance that comes in pieces, each of which is final for the vendor before the utterance has ended.
import type { HeardWords } from './dialect.ts'

export class Utterance {
  readonly #glue: string
  #pieces: HeardWords[] = []

  /** `glue` is written between pieces; pieces of some vendors bring their own spaces. */
  constructor(glue = ' ') {
    this.#glue = glue
  }

  add(piece: HeardWords): void {
    if (piece.text.trim() !== '') this.#pieces.push(piece)
  }

  /** Returns the pieces with words that may still change. */
  with(words: HeardWords): HeardWords {
    return joined([...this.#pieces, words], this.#glue, false)
  }

  /** Ends the utterance. Returns its words, or undefined if there are none. */
  end(evt?: unknown): HeardWords | undefined {
    if (this.#pieces.length === 0) return undefined
    const all = joined(this.#pieces, this.#glue, true)
    this.#pieces = []
    return evt === undefined ? all : { ...all, evt }
  }
}

/** Joins pieces. The message, the language and the end are those of the last. */
function joined(pieces: readonly HeardWords[], glue: string, isFinal: boolean): HeardWords {
  const spoken = pieces.filter(({ text }) => text !== '')
  const [first] = spoken
  const last = pieces.at(-1)
  if (last === undefined || first === undefined || spoken.length < 2)
    return trimmed({ ...(first ?? last ?? nothing), isFinal, evt: last?.evt })
  return trimmed({
    ...last,
    isFinal,
    text: spoken.map(({ text }) => text).join(glue),
    confidence: spoken.reduce((sum, { confidence }) => sum + confidence, 0) / spoken.length,
    startMs: first.startMs,
    others: [],
  })
}

const trimmed = (words: HeardWords): HeardWords => ({ ...words, text: words.text.trim() })

const nothing: HeardWords = { type: 'words', text: '', confidence: 0, isFinal: false, evt: undefined }
