// Refusals of the SIP stack itself, whatever the account and the application.
import type { CatalogueEntry } from './catalogue-entry.ts'

export const sipErrors = {
  sips_insecure: {
    cause:
      'The Request-URI or the Contact of a request is a sips URI, which demands TLS on every hop, and the request came without TLS from an address that is no proxy of SWITCHHOOK_SIP_PROXIES. A Contact gets 400.',
    http: 416,
    sip: 416,
    cure: 'Send the request over TLS, or use a sip URI. Where a proxy of yours ends TLS, name its address in SWITCHHOOK_SIP_PROXIES.',
  },
  sip_method_not_allowed: {
    cause: 'A request has a method of SIP that is not served where it came: within a call, or outside one.',
    http: 405,
    sip: 405,
    cure: 'Send one of the methods that Allow of the response lists.',
  },
  sip_method_unknown: {
    cause: 'A request has a method that is not registered for SIP.',
    http: 501,
    sip: 501,
    cure: 'Correct the method, or send one of those that Allow of the response lists.',
  },
  sip_version: {
    cause: 'A request is of another version than SIP/2.0.',
    http: 505,
    sip: 505,
    cure: 'Send SIP/2.0.',
  },
  sip_ring_limit: {
    cause: 'A call was neither answered nor refused in the time that it may ring.',
    http: 408,
    sip: 408,
    cure: 'Look at the journal of the call for what it waited for: an application that does not respond, or a phone that rings.',
  },
  sip_call_unknown: {
    cause:
      'A request names a call or a transaction that is not here: it has ended, was never here, or is on another node.',
    http: 481,
    sip: 481,
    cure: 'Nothing is wrong when the call has just ended. With several nodes let the proxy send the requests of a call to one of them (Record-Route, or by the Call-ID).',
  },
  sip_request_merged: {
    cause: 'The same request came here by two paths: a proxy on the way has forked it.',
    http: 482,
    sip: 482,
    cure: 'Nothing is wrong if the other path is answered; otherwise let the proxy send it once.',
  },
  sip_event_not_served: {
    cause: 'A NOTIFY is for an event other than that of a transfer (refer).',
    http: 489,
    sip: 489,
    cure: 'Switch that subscription off: Allow-Events of the response lists the events that are accepted.',
  },
  sip_offer_pending: {
    cause: 'An offer came while the platform waited for the answer to its own (glare).',
    http: 491,
    sip: 491,
    cure: 'Send the offer again after a random time, as RFC 3261 §14.1 says.',
  },
  sip_not_answered: {
    cause: 'A request came before the answer of its call, and is served only after it.',
    http: 500,
    sip: 500,
    cure: 'Send it once the call is answered.',
  },
  sip_out_of_order: {
    cause: 'A request has a lower CSeq than one before it, or came while another one waited for its answer.',
    http: 500,
    sip: 500,
    cure: 'Let each request of a call have a CSeq of its own, higher than those before it, and send an offer once the one before it is answered.',
  },
} as const satisfies Record<string, CatalogueEntry>
