// The registered phones as the API shows them: those that may still register. A right revoked on another node does not
// remove bindings here, but this node then refuses their registrations.
import { systemTenancy } from '../contracts/caller.ts'
import type { RegisteredPhone } from '../contracts/registered-phone.ts'
import type { BindingStore } from '../sip/sip.ts'
import type { Storage } from '../storage/storage.ts'
import type { StorageDirectory } from './directory.ts'
import { inPages } from './in-pages.ts'

export interface RegisteredPhonesOptions {
  readonly bindings: Pick<BindingStore, 'get' | 'list' | 'remove' | 'forget'>
  readonly directory: Pick<StorageDirectory, 'accountByRealm' | 'registrationHook' | 'findUser'>
  readonly storage: Pick<Storage, 'for'>
}

export interface RegisteredPhones {
  get(aor: string): Promise<readonly RegisteredPhone[]>
  list(realm: string): Promise<readonly RegisteredPhone[]>
  remove(aor: string): Promise<void>
  forget(realm: string): Promise<void>
}

export function createRegisteredPhones(options: RegisteredPhonesOptions): RegisteredPhones {
  const { bindings, directory, storage } = options

  /** If there is a registration hook, only the hook decides which users may register. */
  const activeAccount = async (realm: string) => {
    const account = await directory.accountByRealm(realm)
    if (account?.is_active !== true) return undefined
    return { ...account, hasHook: (await directory.registrationHook(realm)) !== undefined }
  }

  return {
    async get(aor) {
      const at = aor.lastIndexOf('@')
      const realm = aor.slice(at + 1)
      const account = await activeAccount(realm)
      const isKnown = account?.hasHook === true || (await directory.findUser(realm, aor.slice(0, at)))
      return account === undefined || isKnown === undefined ? [] : bindings.get(aor)
    },
    async list(realm) {
      const [bound, account] = await Promise.all([bindings.list(realm), activeAccount(realm)])
      if (account === undefined || bound.length === 0) return []
      if (account.hasHook) return bound
      const where = { account_sid: account.account_sid, is_active: 1 } as const
      const { clients } = storage.for(systemTenancy)
      const names = new Set<string>()
      // Read in pages, as there may be thousands.
      for await (const page of inPages('client_sid', (one) => clients.list({ where, ...one })))
        for (const { username } of page) names.add(username)
      return bound.filter(({ aor }) => names.has(aor.slice(0, aor.lastIndexOf('@'))))
    },
    remove: (aor) => bindings.remove(aor),
    forget: (realm) => bindings.forget(realm),
  }
}
