// The options of vendors, from the credential and from the verb, which wins.
import { AppError } from '../../lib/errors.ts'
import { textOf } from '../../lib/members.ts'
import type { RecognitionOrder } from '../../contracts/recognition.ts'

const maxValues = 100
const maxLength = 500

/** Adds members of `options` to a query, by the name that they have there. Lists are added one by one. */
export function addQuery(
  query: URLSearchParams,
  options: Readonly<Record<string, unknown>>,
  names: Readonly<Record<string, string>>,
): void {
  for (const [key, name] of Object.entries(names)) {
    const value = options[key]
    if (value === undefined || value === null) continue
    query.delete(name)
    for (const one of [value].flat().slice(0, maxValues))
      if (typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean')
        query.append(name, String(one).slice(0, maxLength))
  }
}

/** Returns the key of the verb or else of the credential. Throws AppError recognizer_unknown if one is needed. */
export function demandKey(
  vendor: string,
  {
    settings,
    vendorOptions,
    isNeeded = true,
  }: Pick<RecognitionOrder, 'settings' | 'vendorOptions'> & { readonly isNeeded?: boolean },
): string | undefined {
  const key = textOf(vendorOptions, 'apiKey') ?? textOf(settings, 'api_key')
  if (key === undefined && isNeeded)
    throw new AppError('recognizer_unknown', `the credential of ${vendor} has no api_key`)
  return key
}

/** Returns an address with the scheme of a WebSocket. */
export function withScheme(address: string, isSecure: boolean): string {
  if (/^wss?:\/\//i.test(address)) return address
  if (/^https?:\/\//i.test(address)) return address.replace(/^http/i, 'ws')
  return `${isSecure ? 'wss' : 'ws'}://${address}`
}
