// One platform for all applications of the client libraries, with an account for each of them.
import { sharedPlatform, type Platform, type Tenant } from '../support/platform-process.ts'
import { TalkingPhone } from '../support/talking-phone.ts'
import { WebhookServer } from './webhook-server.ts'

/** The facts that an application gets from its operator: the API's address, its account, and the secrets of both. */
export interface Customer extends Tenant {
  readonly apiKey: string
  readonly webhookSecret: string
}

export class Stage {
  readonly platform: Platform
  readonly #closing: { close(): Promise<void> }[] = []
  #customers = 0

  private constructor(platform: Platform) {
    this.platform = platform
  }

  static async start(): Promise<Stage> {
    return new Stage(await sharedPlatform())
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.platform.httpPort}`
  }

  async webhookServer(): Promise<WebhookServer> {
    const server = new WebhookServer()
    await server.start()
    this.#closing.push(server)
    return server
  }

  async phone(): Promise<TalkingPhone> {
    const phone = await TalkingPhone.open()
    this.#closing.push(phone)
    return phone
  }

  /** Registers something to close with the stage. */
  closes(one: { close(): Promise<void> }): void {
    this.#closing.push(one)
  }

  /** Creates an account whose phones reach the application at this hook. */
  async customer(hooks: { readonly call: unknown; readonly status: unknown }): Promise<Customer> {
    const { api } = this.platform
    const name = `customer-${++this.#customers}`
    const realm = `${name}.example.test`
    const [provider] = await api.must<{ service_provider_sid: string }[]>('GET', '/ServiceProviders')
    const { sid: account_sid } = await api.must<{ sid: string }>('POST', '/Accounts', {
      name,
      service_provider_sid: provider?.service_provider_sid,
      sip_realm: realm,
    })
    const application = { name, account_sid, call_hook: hooks.call, call_status_hook: hooks.status }
    const { sid: application_sid } = await api.must<{ sid: string }>('POST', '/Applications', application)
    const phone = { username: 'alice', password: 'sip-secret-1' }
    const { sid: client_sid } = await api.must<{ sid: string }>('POST', '/Clients', { account_sid, ...phone })
    const { token: apiKey } = await api.must<{ token: string }>('POST', '/ApiKeys', { account_sid })
    const secret = `/Accounts/${account_sid}/WebhookSecret`
    const { webhook_secret: webhookSecret } = await api.must<{ webhook_secret: string }>('GET', secret)
    const target = `app-${application_sid}@${realm}`
    return { account_sid, application_sid, client_sid, realm, ...phone, target, apiKey, webhookSecret }
  }

  async close(): Promise<void> {
    await Promise.all(this.#closing.map((one) => one.close()))
  }
}
