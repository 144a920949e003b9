// The check of secrets that others may know or guess: those that the documentation shows, and short SIP passwords.
import { systemTenancy } from '../contracts/caller.ts'
import { hashApiKey } from '../lib/api-key.ts'
import { isPublished, publishedSecrets } from '../lib/published-secrets.ts'
import { rowsIfAny, type Rows } from './database.ts'
import { bad, note, ok, type Check, type Finding } from './doctor.ts'

export interface PasswordsCheckOptions {
  readonly rows: Rows
  /** The names of the settings that the documentation shows the values of. In production they prevent the start. */
  readonly publishedSettings: readonly string[]
  readonly minSipPassword: number
  /** Outside production each of them is only a note. */
  readonly isProduction: boolean
}

// The most rows that an operator waits for, and the most names that one reads.
const maxRows = 10_000
const maxNames = 5

export function createPasswordsCheck(options: PasswordsCheckOptions): Check {
  const { rows, publishedSettings, minSipPassword, isProduction } = options
  const fault = isProduction ? bad : note
  return {
    name: 'passwords',
    async look() {
      const settings = publishedSettings.map((name) =>
        fault(
          `The value of ${name} is printed in the documentation: production does not start with it`,
          'Set another one, for example with openssl rand -hex 32.',
        ),
      )
      const look = await rowsIfAny(rows)
      if (look === undefined)
        return settings.length > 0 ? settings : [note('Not checked without the database')]
      const tenancy = look.for(systemTenancy)
      const [keys, clients, carriers] = await Promise.all([
        Promise.all(
          publishedSecrets.map((secret) =>
            tenancy.api_keys.count({ where: { token_hash: hashApiKey(secret) } }),
          ),
        ),
        tenancy.clients.list({ limit: maxRows }),
        tenancy.voip_carriers.list({ limit: maxRows }),
      ])
      const known = keys.reduce((sum, count) => sum + count, 0)
      const passwords = [
        ...clients.map(({ username, password }) => ({ of: `client ${username}`, password })),
        ...carriers.flatMap(({ name, inbound_auth_password: password }) =>
          password === null ? [] : [{ of: `carrier ${name}`, password }],
        ),
      ]
      // The carrier determines the length of these.
      const outbound = carriers.flatMap(({ name, register_password: password }) =>
        password === null ? [] : [{ of: `registration of carrier ${name}`, password }],
      )
      const findings = [
        ...settings,
        ...(known === 0 ? [] : [fault(`${known} API keys are printed in the documentation`, replaceKeys)]),
        ...findingsOn(
          [...passwords, ...outbound].filter(({ password }) => isPublished(password)),
          'are printed in the documentation',
          fault,
        ),
        ...findingsOn(
          passwords.filter(({ password }) => password.length < minSipPassword),
          `have fewer than ${minSipPassword} characters, the number of SWITCHHOOK_MIN_SIP_PASSWORD`,
          fault,
        ),
      ]
      return findings.length > 0
        ? findings
        : [ok('No API key and no SIP password is short or printed in the documentation')]
    },
  }
}

const replaceKeys =
  'Make others with POST /ApiKeys, or npm run reset-admin, and remove these with DELETE /ApiKeys/{sid}. Production refuses them.'

/** Names the owners and never the passwords. */
function findingsOn(
  found: readonly { readonly of: string }[],
  what: string,
  fault: typeof bad,
): readonly Finding[] {
  if (found.length === 0) return []
  const named = found.slice(0, maxNames).map(({ of }) => of)
  const more = found.length > maxNames ? ` and ${found.length - maxNames} more` : ''
  return [
    fault(
      `SIP passwords ${what}: ${named.join(', ')}${more}`,
      'Set longer random ones by PUT /Clients or PUT /VoipCarriers, and in the phones.',
    ),
  ]
}
