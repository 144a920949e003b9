// The vendors that the interface names and that no recogniser here hears, with what to take instead.

export interface NotHeard {
  /** The name of the vendor in sentences. */
  readonly name: string
  /** The reason, as the rest of a sentence that begins with the name. */
  readonly because: string
  /** The vendors to take instead, by the names that credentials have. */
  readonly instead: readonly string[]
}

const isNotSpoken = 'has an interface of its own that this platform does not speak'

export const notHeard: Readonly<Record<string, NotHeard>> = {
  cartesia: { name: 'Cartesia', because: isNotSpoken, instead: ['deepgramflux', 'elevenlabs'] },
  cobalt: { name: 'Cobalt', because: isNotSpoken, instead: ['vosk', 'custom:<name>'] },
  houndify: { name: 'Houndify', because: isNotSpoken, instead: ['deepgram', 'assemblyai'] },
  ibm: { name: 'IBM Watson', because: isNotSpoken, instead: ['microsoft', 'aws'] },
  modulate: { name: 'Modulate', because: isNotSpoken, instead: ['deepgram', 'gladia'] },
  nuance: {
    name: 'Nuance',
    because: 'is now a part of Microsoft and takes no new customers',
    instead: ['microsoft', 'deepgram'],
  },
  nvidia: {
    name: 'NVIDIA Riva',
    because: 'is heard here only over the dialect of OpenAI, which its newer servers speak',
    instead: ['openai', 'custom:<name>'],
  },
  verbio: { name: 'Verbio', because: isNotSpoken, instead: ['speechmatics', 'gladia'] },
  voxist: { name: 'Voxist', because: isNotSpoken, instead: ['gladia', 'speechmatics'] },
  xai: {
    name: 'xAI',
    because: 'has no recognition of its own that this platform speaks',
    instead: ['openai', 'deepgramflux'],
  },
}

/** Returns the sentence for a vendor that is not heard, or undefined if this table does not have it. */
export function adviceFor(vendor: string): string | undefined {
  const entry = Object.hasOwn(notHeard, vendor) ? notHeard[vendor] : undefined
  if (entry === undefined) return undefined
  const { name, because, instead } = entry
  return `${name} ${because}: take ${instead.join(' or ')} as recognizer.vendor`
}
