import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseConfig, publishedSettings } from '../config/config.ts'
import { isPublished, publishedSecrets } from './published-secrets.ts'

const root = join(import.meta.dirname, '../..')

/** The ways in which a text shows a secret: the secret is the last group. */
const shown: readonly RegExp[] = [
  /SWITCHHOOK_\w*(?:KEY|PASSWORD|SECRET)=(["']?)([\w-]{8,})\1/g,
  /--password[ =]()([\w-]{6,})/g,
  /"\w*(?:password|secret|api_key|token)"\s*:\s*(["'])((?:(?!\1).)+)\1/g,
  /\b(?:adminPassword|adminApiKey|accountApiKey|testPassword) = (')([^']+)'/g,
  /PASSWORD ()'([^'$]+)'/g,
  /\b[a-z]+:\/\/[^:@\s/]+:()([^@\s/"'`]+)@/g,
  /Bearer ()([\w.-]{8,})/g,
  /auth_pass=()([^;\s]+)/g,
  /^\| password +\|[^|`]*()`([^`]+)`/gm,
]
// Placeholders, variables, masks, and the word in the form of a URL.
const isNone = (text: string): boolean =>
  /^[<$]/.test(text) || /X{6}$|^\w?x+$/.test(text) || ['password', 'THE-TOKEN', '...'].includes(text)

function files(): readonly string[] {
  const under = (folder: string): readonly string[] =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))
  return [
    'README.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    ...under('docs'),
    ...under('examples'),
    ...under('src/api/docs'),
    'src/api/openapi/examples.json',
    'test/support/platform-process.ts',
    'test/support/api-tenants.ts',
  ].filter((name) => /\.(md|json|html|ts|txt|sh)$/.test(name) && !/\.test\.ts$/.test(name))
}

const secrets = new Map<string, string>()
for (const file of files()) {
  const text = readFileSync(join(root, file), 'utf8')
  for (const way of shown)
    for (const [, , secret = ''] of text.matchAll(way)) if (!isNone(secret)) secrets.set(secret, file)
}

describe('secrets that the documentation, the examples or the tests show', () => {
  it('are found: guides, examples and tests each show some', () => {
    const places = [...secrets.values()].join(' ')
    for (const place of ['docs/guides', 'test/support', 'src/api']) expect(places).toContain(place)
    expect(secrets.size).toBeGreaterThan(8)
  })

  it.each([...secrets])('are refused in production: %s of %s', (secret) => {
    expect(isPublished(secret)).toBe(true)
    const key = secret.length < 16 ? 'SWITCHHOOK_ADMIN_PASSWORD' : 'SWITCHHOOK_ADMIN_API_KEY'
    const url = { SWITCHHOOK_DATABASE_URL: `postgres://u:${encodeURIComponent(secret)}@host/db` }
    for (const given of [{ [key]: secret }, url]) {
      const [name = ''] = Object.keys(given)
      expect(() => parseConfig({ ...given, NODE_ENV: 'production' })).toThrow(
        `${name} is printed in the documentation`,
      )
      expect(publishedSettings(given)).toEqual([name])
      expect(() => parseConfig(given)).not.toThrow()
    }
  })

  it('are all found by their hashes too', () => {
    for (const secret of secrets.keys()) expect(publishedSecrets).toContain(secret)
  })

  it('do not make others suspect', () => {
    expect(isPublished('a-long-secret2')).toBe(false)
    expect(isPublished('')).toBe(false)
  })
})
