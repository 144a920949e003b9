// Masks of secrets: enough of a long secret to distinguish it from others, nothing of a short one.

const fullyHiddenBelow = 16
const maxShown = 6

export function maskSecret(secret: string): string {
  const { length } = secret
  const shown = length < fullyHiddenBelow ? 0 : Math.min(maxShown, Math.floor(length / 4))
  return secret.slice(0, shown) + 'X'.repeat(length - shown)
}

/** Masks only the private key of a service account's key. */
export function maskServiceKey(service_key: string): string {
  const key = JSON.parse(service_key) as Readonly<Record<string, unknown>>
  const { private_key } = key
  const header =
    typeof private_key === 'string' ? (/^-----BEGIN [A-Z ]+-----\n?/.exec(private_key)?.[0] ?? '') : ''
  return JSON.stringify({ ...key, private_key: `${header}XXXXXXXX` })
}
