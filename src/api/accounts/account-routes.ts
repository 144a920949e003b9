// The endpoints of an account's signing secret and SIP realm.
import { AppError } from '../../lib/errors.ts'
import { createWebhookSecret } from '../../lib/ids.ts'
import { boolean } from '../define/fields.ts'
import { ofCaller } from '../define/idempotency.ts'
import { object, word } from '../define/reply-fields.ts'
import { defineRoute, everyone } from '../define/route.ts'
import { orUndo } from '../define/undo.ts'
import { forgetPhones } from './forget-phones.ts'
import { moveRealm } from './move-realm.ts'
import { demandRealm } from './realm-rules.ts'
import { parseSipRealm } from './sip-realm.ts'

export const webhookSecret = defineRoute({
  method: 'GET',
  path: '/Accounts/{AccountSid}/WebhookSecret',
  access: everyone,
  isChanging: true,
  operationId: 'getWebhookSecret',
  tag: 'Accounts',
  summary: 'The secret that signs requests to the hooks of an account.',
  query: {
    regenerate: boolean().optional().describe('true makes a new one; the old one is void immediately.'),
  },
  reply: {
    status: 200,
    description: 'The secret.',
    component: 'WebhookSecret',
    body: object({
      webhook_secret: word('The key of the HMAC-SHA-256 that signs each request to a hook.'),
    }),
  },
  errors: ['not_found'],
  async handle({ account, query: { regenerate }, caller, rows }) {
    // View-only users neither read secrets nor change anything, and this GET does both.
    if (caller.isViewOnly) throw new AppError('not_permitted', 'a view-only user cannot read the secret')
    if (regenerate !== true) return { webhook_secret: account.webhook_secret }
    const webhook_secret = createWebhookSecret()
    await rows.accounts.update(account.account_sid, { webhook_secret })
    return { webhook_secret }
  },
})

export const sipRealms = defineRoute({
  method: 'POST',
  path: '/Accounts/{AccountSid}/SipRealms/{SipRealm}',
  access: everyone,
  operationId: 'setSipRealm',
  tag: 'Accounts',
  parameters: { SipRealm: 'A host name with at least two dots: `acme.sip.example.com`.' },
  summary:
    'Sets the SIP realm of an account, and its A, SRV and NAPTR records where the platform keeps them.',
  reply: { status: 204, description: 'Set.' },
  errors: ['not_found', 'duplicate', 'realm_not_proven', 'dns_unavailable', 'dns_update_failed'],
  keepsKey: true,
  async handle({ account, params, caller, once }) {
    const { account_sid, sip_realm } = account
    const realm = parseSipRealm(params.SipRealm)
    return once(ofCaller(caller.principal), async (services) => {
      if (realm !== sip_realm) await demandRealm({ realm, account }, { caller, services })
      const { accounts } = services.storage.for(caller.tenancy)
      const moved = moveRealm(sip_realm, realm, services)
      await orUndo(moved, () => accounts.update(account_sid, { sip_realm: realm }))
      // Closes the realm to its phones only after the change is committed.
      const afterwards = (): Promise<void> => forgetPhones(sip_realm, services)
      return { answer: undefined, ...(realm === sip_realm ? {} : { afterwards }) }
    })
  },
})
