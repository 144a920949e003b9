// The setup of an example through the public REST API: an account, its application and a phone for each user.
import { createHmac } from 'node:crypto'
import {
  applicationFields,
  create,
  createClient,
  findIn,
  findOrCreateAccount,
  type Api,
} from '../demo/provision-demo.ts'

export interface ProvisionOptions {
  readonly baseUrl: string
  readonly apiKey: string
  readonly realm: string
  /** The name of the example. */
  readonly name: string
  readonly users: readonly string[]
  readonly takesCalls: boolean
  readonly hearsOfQueues: boolean
  readonly isOverSocket: boolean
  readonly hookUrl: string
}

export interface Provisioned {
  readonly account_sid: string
  readonly application_sid: string
  readonly passwords: ReadonlyMap<string, string>
  readonly webhookSecret: string
  readonly api: Api
}

/** Sets up the example. A second run with the same API key finds everything and changes no password. */
export async function provisionExample(options: ProvisionOptions): Promise<Provisioned> {
  const { name, realm, users, takesCalls, hookUrl, apiKey } = options
  const api = createClient(options)
  const account_sid = await findOrCreateAccount(api, realm, `Switchhook example: ${name}`)
  const fields = applicationFields(options.isOverSocket ? hookUrl.replace(/^http/, 'ws') : hookUrl)
  const known = await findIn(api, '/Applications', { account_sid, name })
  const application_sid =
    known === undefined
      ? await create(api, '/Applications', { ...fields, account_sid, name })
      : String(known['application_sid'])
  if (known !== undefined) await api('PUT', `/Applications/${application_sid}`, fields)
  if (takesCalls)
    await api('PUT', `/Accounts/${account_sid}`, { device_calling_application_sid: application_sid })
  if (options.hearsOfQueues)
    await api('PUT', `/Accounts/${account_sid}`, {
      queue_event_hook: { url: `${hookUrl}/queue-event`, method: 'POST' },
    })
  const passwords = new Map<string, string>()
  for (const username of users) {
    const password = passwordOf(username, apiKey, account_sid)
    passwords.set(username, password)
    const client = await findIn(api, '/Clients', { account_sid, username })
    if (client === undefined) await create(api, '/Clients', { account_sid, username, password })
    else await api('PUT', `/Clients/${String(client['client_sid'])}`, { password })
  }
  const { webhook_secret } = (await api('GET', `/Accounts/${account_sid}/WebhookSecret`)) as {
    readonly webhook_secret: string
  }
  return { account_sid, application_sid, passwords, webhookSecret: webhook_secret, api }
}

/** Returns a password that is derived from the API key, so that a second run has it without storing it anywhere. */
function passwordOf(username: string, apiKey: string, account_sid: string): string {
  return createHmac('sha256', apiKey)
    .update(`example client ${username} of ${account_sid}`)
    .digest('hex')
    .slice(0, 20)
}
