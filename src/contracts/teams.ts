// The names of the proxies of Microsoft Teams, for watching and calling them.

/**
 * Returns the FQDN in whose name OPTIONS is sent. Microsoft treats a tenant below the provider's domain as healthy if
 * that domain is; one elsewhere has its own connection.
 */
export function teamsPingName(tenant_fqdn: string, ms_teams_fqdn: string | null): string {
  const isBelow = ms_teams_fqdn !== null && tenant_fqdn.endsWith(`.${ms_teams_fqdn}`)
  return isBelow ? ms_teams_fqdn : tenant_fqdn
}

/** Returns the key of a proxy, as reached in the name of this FQDN. */
export function teamsProxyKey(fqdn: string, proxy: { readonly host: string; readonly port: number }): string {
  return `teams ${fqdn} ${proxy.host}:${proxy.port}`
}
