// The limits on registered phones of an account and of a service provider. The phones are counted from the live
// bindings, never incremented.
import { systemTenancy } from '../contracts/caller.ts'
import type { BindingStore, SipDirectory } from '../sip/sip.ts'
import type { AlertLog } from '../storage/alerts.ts'
import type { Repositories, Storage } from '../storage/storage.ts'

export interface DeviceLimitOptions {
  readonly storage: Pick<Storage, 'for'>
  readonly bindings: () => Pick<BindingStore, 'list'>
  readonly alerts: Pick<AlertLog, 'raise'>
}

interface DeviceLimit {
  readonly most: number
  readonly realms: readonly string[]
  readonly alert: { readonly account_sid: string; readonly alert_type: string }
}

interface Device {
  readonly id: string
  readonly realm: string
}

type AdmitDevice = NonNullable<SipDirectory['admitDevice']>

export function createDeviceLimits({ storage, bindings, alerts }: DeviceLimitOptions): AdmitDevice {
  /** The devices that are being registered, in order of arrival, so that simultaneous ones cannot exceed the limit. */
  const joining = new Set<Device>()

  async function isRoom(
    { most, realms }: DeviceLimit,
    device: string,
    ahead: readonly Device[],
  ): Promise<boolean> {
    const taken = new Set(ahead.filter(({ realm }) => realms.includes(realm)).map(({ id }) => id))
    for (const realm of realms)
      for (const { aor, key } of await bindings().list(realm)) taken.add(idOf(aor, key))
    taken.delete(device)
    return taken.size < most
  }

  return async ({ realm, username, key }, bind) => {
    const aor = `${username}@${realm}`
    const device: Device = { id: idOf(aor, key), realm }
    const limits = await limitsOf(realm, storage.for(systemTenancy))
    const ahead = [...joining]
    joining.add(device)
    try {
      for (const limit of limits) {
        if (await isRoom(limit, device.id, ahead)) continue
        alerts.raise({ ...limit.alert, message: `no room for ${aor}: ${limit.most} devices are registered` })
        return 'Max Devices Registered'
      }
      await bind()
      return undefined
    } finally {
      joining.delete(device)
    }
  }
}

async function limitsOf(realm: string, rows: Repositories): Promise<DeviceLimit[]> {
  const [account] = await rows.accounts.list({ where: { sip_realm: realm }, limit: 1 })
  if (account === undefined) return []
  const { account_sid, service_provider_sid } = account
  const category = 'device'
  const [[own], [provider]] = await Promise.all([
    rows.limits.list({ where: { account_sid, category }, limit: 1 }),
    rows.limits.list({ where: { service_provider_sid, account_sid: null, category }, limit: 1 }),
  ])
  const limits: DeviceLimit[] = []
  // 0 means no limit.
  if (own !== undefined && own.quantity > 0)
    limits.push({
      most: own.quantity,
      realms: [realm],
      alert: { account_sid, alert_type: 'account-device-limit' },
    })
  if (provider !== undefined && provider.quantity > 0) {
    const accounts = await rows.accounts.list({ where: { service_provider_sid } })
    limits.push({
      most: provider.quantity,
      realms: accounts.flatMap(({ sip_realm }) => (sip_realm === null ? [] : [sip_realm])),
      alert: { account_sid, alert_type: 'service-provider-device-limit' },
    })
  }
  return limits
}

function idOf(aor: string, key: string): string {
  return `${aor} ${key}`
}
