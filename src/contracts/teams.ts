// How those who watch the proxies of Microsoft Teams, and those who call them, name one of them.

/**
 * The FQDN that OPTIONS is sent in the name of. Microsoft takes a tenant below the domain of the service provider for well when
 * that domain is; one elsewhere has a connection of its own.
 */
export function teamsPingName(tenant_fqdn: string, ms_teams_fqdn: string | null): string {
  const isBelow = ms_teams_fqdn !== null && tenant_fqdn.endsWith(`.${ms_teams_fqdn}`)
  return isBelow ? ms_teams_fqdn : tenant_fqdn
}

/** The proxy, as it is reached in the name of this FQDN. */
export function teamsProxyKey(fqdn: string, proxy: { readonly host: string; readonly port: number }): string {
  return `teams ${fqdn} ${proxy.host}:${proxy.port}`
}
