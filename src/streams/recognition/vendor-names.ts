// The names of the vendors that hear, for the main thread: the vendors themselves are loaded in the thread of streams, with
// its first recogniser.

/** A test compares them with the vendors. */
export const heardVendors: ReadonlySet<string> = new Set([
  'assemblyai',
  'aws',
  'custom',
  'deepgram',
  'deepgramflux',
  'elevenlabs',
  'gladia',
  'google',
  'microsoft',
  'openai',
  'soniox',
  'speechmatics',
  'vosk',
  'whisper',
])

/** Returns the name of the vendor: one of the names `custom:<name>` is the custom one, and `polly` is AWS. */
export function vendorNameOf(name: string): string {
  if (name.startsWith('custom:')) return 'custom'
  return name === 'polly' ? 'aws' : name
}
