// The check for the recogniser of `npm run demo -- --listen`, before anything is started for a call that it could not hear.

const maxMs = 5000

/** Rejects if nothing responds there, with what to do. */
export async function demandRecogniser(url: string): Promise<void> {
  if (URL.parse(url)?.protocol.startsWith('http') !== true)
    throw new Error(`--recognizer must be an http URL, and is "${url}".`)
  try {
    // The status does not matter: servers of this dialect have different pages at their root.
    await fetch(new URL('/', url), { signal: AbortSignal.timeout(maxMs) })
  } catch (cause) {
    throw new Error(
      `No recogniser responds at ${url}. docs/guides/without-a-cloud.md installs one by pip, without an account, and ` +
        'starts it by one command; --recognizer names another one.',
      { cause },
    )
  }
}
