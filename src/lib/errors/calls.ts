// The reasons why a call or a registration is refused or ends.
import type { CatalogueEntry } from './catalogue-entry.ts'

export const callErrors = {
  unknown_realm: {
    cause:
      'A phone named a SIP domain that no account has, or a carrier called from an address that no inbound gateway has.',
    http: 404,
    sip: 404,
    cure: 'For a phone, set sip_realm on the account, and the same domain in the phone. For a carrier, enter an inbound gateway of its address.',
  },
  conference_full: {
    cause: 'A conference has the most members that it allows.',
    http: 422,
    cure: 'Raise maxParticipants of the verb conference for the call that makes the room, or send the call elsewhere with its next verb.',
  },
  no_application: {
    cause: 'No setting selects an application for this call.',
    http: 422,
    sip: 480,
    cure: 'Dial app-<application_sid> or a registered user of the realm, which allow_direct_user_calling of the SIP client permits, or set device_calling_application_sid on the account: all other calls of its devices then go to that application.',
  },
  number_not_provisioned: {
    cause: 'A carrier sent a call to a number that no account has with it.',
    http: 404,
    sip: 404,
    cure: 'Add the number, as the carrier sends it, to the phone numbers of the account and name the carrier there.',
  },
  ambiguous_carrier: {
    cause:
      'A call came from an address that several carriers share, and the number does not show which account the call belongs to.',
    http: 503,
    sip: 503,
    cure: 'Keep the number with one carrier, or let the carrier send calls to the SIP realm of the account.',
  },
  patterns_too_costly: {
    cause:
      'The number would be matched with patterns that together take longer than one call may cause: those of phone numbers, or the routes of a table of least cost routing.',
    http: 422,
    sip: 503,
    cure: 'Write patterns with fewer alternatives and repetitions, as prefixes such as 1555* where that is enough, and remove those that are not needed.',
  },
  direct_app_calling_off: {
    cause: 'The phone dialled an application, and its SIP client may not.',
    http: 403,
    sip: 480,
    cure: 'Set allow_direct_app_calling on the SIP client.',
  },
  direct_queue_calling_off: {
    cause: 'The phone dialled a queue, and its SIP client may not.',
    http: 403,
    sip: 480,
    cure: 'Set allow_direct_queue_calling on the SIP client.',
  },
  queue_full: {
    cause:
      'The queue holds the most waiting callers or agents that it may, or the account has too many queues.',
    http: 503,
    cure: 'Let more agents take callers, spread the callers over several queues, or let the application do something else for them: the action hook of enqueue gets queue_result error.',
  },
  too_many_hops: {
    cause: 'The Max-Forwards of the call is used up, so that it may be dialled on to no other place.',
    http: 482,
    sip: 483,
    cure: 'Correct the route that leads the call through more and more places, or let the caller send a higher Max-Forwards: 70 is usual.',
  },
  loop_detected: {
    cause:
      'The call has passed through this platform before: its headers say so, it has passed through five times, or it has come back twice to a number that is still being called.',
    http: 482,
    sip: 482,
    cure: 'Correct the route that leads the call back to the application it left.',
  },
  extension_not_supported: {
    cause: 'An INVITE requires an extension of SIP that the platform does not have.',
    http: 400,
    sip: 420,
    cure: 'Switch the extension off in the phone or at the carrier, or make it optional there.',
  },
  body_not_supported: {
    cause: 'The body of an INVITE is neither SDP nor multipart.',
    http: 415,
    sip: 415,
    cure: 'Send the offer as application/sdp, alone or in a multipart body.',
  },
  session_too_short: {
    cause: 'An INVITE asks for a session that ends without a refresh sooner than the platform allows.',
    http: 422,
    sip: 422,
    cure: 'Ask for a Session-Expires of as many seconds as Min-SE of the response says, or more.',
  },
  uri_not_supported: {
    cause: 'An INVITE calls a URI that is neither sip, sips nor tel.',
    http: 400,
    sip: 416,
    cure: 'Call a sip or tel URI.',
  },
  media_not_acceptable: {
    cause: 'The offer has no audio stream that the platform can take part in.',
    http: 488,
    sip: 488,
    cure: 'Offer one audio stream with PCMU, PCMA, G722 or Opus over RTP/AVP, over RTP/SAVP with an a=crypto line of AES_CM_128_HMAC_SHA1_80 or a fingerprint, or as a browser does.',
  },
  early_media_unavailable: {
    cause:
      'Audio was to be played before the call is answered, and its INVITE has no offer. The platform may send its own offer before the answer only to a caller that supports 100rel (RFC 3262 §5). The audio was left out and the call not answered; the application continued.',
    http: 488,
    cure: 'Let the caller send its offer in the INVITE (no late or delayed offer), or support 100rel (PRACK). Otherwise answer the call before audio is played.',
  },
  siprec_failed: {
    cause:
      'No recording server accepted the recording of the call, or the server ended it. The call continues.',
    http: 502,
    cure: 'Look at the recording server: it must answer an INVITE that requires siprec (RFC 7866) and accept two audio streams with PCMU or PCMA.',
  },
  siprec_unreadable: {
    cause:
      'The metadata of a recording session (SIPREC) does not name the participants who are recorded. The session is recorded without names.',
    http: 400,
    cure: 'Let the recording client send metadata of RFC 7865 with a nameID for each participant, or the headers X-Cisco-Recording-Participant.',
  },
  no_siprec_application: {
    cause: 'A recording session (SIPREC) arrived, and no application is set for it.',
    http: 404,
    sip: 404,
    cure: 'Set siprec_hook_sid on the account that the recording client calls, and let it call from a gateway of a carrier.',
  },
  recording_server_missing: {
    cause: 'A recording of type siprec, the default, was to start, and no recording server was named.',
    http: 400,
    cure: 'Name the server in siprecServerURL, or set type to cloud: the platform records then.',
  },
  media_lost: {
    cause: 'The thread that carried the audio of the call died.',
    http: 503,
    sip: 503,
    cure: 'Call again: a new thread serves the next call. The log says why the old one died.',
  },
  no_media_received: {
    cause:
      'An answered call has no sound of the far end: 3 s after the answer no packet of it had come, and it was neither on hold nor only listening. The call continues. The sentence names the place that our SDP announces and the place that the SDP of the far end names.',
    http: 480,
    cure: 'If the announced address is not the one that the far end reaches, set SWITCHHOOK_PUBLIC_ADDRESS. Let the firewall and NAT pass UDP packets to the ports of SWITCHHOOK_RTP_PORTS, with the same numbers. If only one far end is not heard, look at its own network and whether it is muted. `npm run doctor` and docs/guides/no-sound.md help.',
  },
  no_media_delivered: {
    cause:
      'The far end of an answered call gets none of our packets, as its own RTCP reports show. The call continues. The sentence names the place that our packets come from and the one that they go to.',
    http: 480,
    cure: 'Let the firewall and NAT pass UDP packets from the ports of SWITCHHOOK_RTP_PORTS to any address. If the place of the far end is a private address, let the far end name its public one (STUN, or the setting of its own NAT). docs/guides/no-sound.md helps.',
  },
  media_timeout: {
    cause:
      'The far end of an answered call was not heard for the time of SWITCHHOOK_MEDIA_TIMEOUT_SECONDS: it sent neither media nor anything in signalling, and had not put the call on hold.',
    http: 480,
    sip: 480,
    cure: 'Where nothing ever came: open the ports of SWITCHHOOK_RTP_PORTS in the firewall for UDP, and set SWITCHHOOK_PUBLIC_ADDRESS to the address that the far end reaches. Where it was heard before, look at the far end and its network: it ended without BYE, or it sends nothing while it is muted; switch that off there.',
  },
  hold_timeout: {
    cause:
      'The far end of an answered call had it on hold, or only listened, for the time of SWITCHHOOK_HOLD_TIMEOUT_SECONDS, and gave no sign of life meanwhile.',
    http: 480,
    sip: 480,
    cure: 'Let the phone refresh its session while it holds (Session-Expires), or raise SWITCHHOOK_HOLD_TIMEOUT_SECONDS.',
  },
  call_duration_limit: {
    cause:
      'The call lasted as long as a call may: 180 minutes, or the timeLimit of the request that placed it.',
    http: 480,
    sip: 480,
    cure: 'Call again. Where the limit was that of the request, raise its timeLimit.',
  },
  call_lost: {
    cause:
      'The process that carried the call was killed, its machine failed, or it gave no sign of life for so long that another node declared it dead.',
    http: 503,
    sip: 503,
    cure: 'Call again. The operator should look at the log of the node and of its machine: it was not stopped in the regular way.',
  },
  account_removed: {
    cause: 'The account was removed while its calls were up.',
    http: 404,
    sip: 404,
    cure: 'Nothing needs to be done: calls of an account end when it is removed.',
  },
  browsers_unavailable: {
    cause:
      'The media of a browser cannot be carried: the process that does so could not be started, has ended, or has no room for one more.',
    http: 503,
    sip: 503,
    cure: 'Look at the log, which says why. Where it names the UDP port of browsers, another program has that port: set SWITCHHOOK_BROWSER_PORT to a free one.',
  },
  ice_restart_unavailable: {
    cause:
      'A browser or phone has changed its ICE credentials within a call (an ICE restart) and keeps its DTLS association, as Firefox does (RFC 8842 §4). The path cannot move without a new handshake. The former path stays.',
    http: 488,
    sip: 488,
    cure: 'Nothing needs to be done while the former path works. If the far end has moved to another network, let it call again. Browsers of Chromium and Safari make a new handshake, and their restarts work.',
  },
  media_path_lost: {
    cause:
      'The media path to a browser was never there, or is no more: its page was closed, its network is gone, a firewall keeps UDP packets back, or its certificate is not the one that its SDP named.',
    http: 480,
    sip: 480,
    cure: 'Where no call has sound: open the UDP port of browsers (SWITCHHOOK_BROWSER_PORT) in the firewall, and set SWITCHHOOK_PUBLIC_ADDRESS to the address that browsers reach. The error message of the call names the reason.',
  },
  stream_failed: {
    cause:
      'The audio of a call could not be sent to its audio server, or the server broke off the WebSocket.',
    http: 480,
    sip: 480,
    cure: 'Check the url and the credentials of `listen`, and that the server accepts WebSockets there.',
  },
  stream_lost: {
    cause: 'The thread that carried the audio of a call to its audio server died.',
    http: 503,
    sip: 503,
    cure: 'The call continues. The next `listen` has a new thread; the log says why the old one died.',
  },
  no_media_port: {
    cause: 'All RTP ports of the range are taken, by running calls or by other programs.',
    http: 503,
    sip: 503,
    cure: 'Widen SWITCHHOOK_RTP_PORTS or lower the number of calls. Where few calls are up, other programs of the machine hold ports of the range: set SWITCHHOOK_RTP_PORTS to a range that no other program uses.',
  },
  unknown_teams_tenant: {
    cause:
      'Microsoft Teams called a name that is no tenant here, or a call was to reach Microsoft Teams and the account has no such tenant, or several.',
    http: 422,
    sip: 404,
    cure: 'Create the tenant (POST /MicrosoftTeamsTenants) for the account, with the FQDN that the SBC has in the Teams admin centre. An account with several names one in tenant.',
  },
  teams_not_ready: {
    cause:
      'The platform cannot speak to Microsoft Teams by the FQDN of the tenant: SIP over TLS is not served, or none of its certificates names the FQDN.',
    http: 422,
    sip: 480,
    cure: 'Set SWITCHHOOK_SIPS_PORT, SWITCHHOOK_TLS_CERTIFICATE and SWITCHHOOK_TLS_KEY. A certificate must name the FQDN, or its domain with a wildcard, and be signed by an authority that Microsoft trusts.',
  },
  teams_by_tenant_only: {
    cause:
      'A SIP URI, or a carrier of an account, leads to Microsoft Teams. Calls there are sent only in the name of a tenant of the account.',
    http: 422,
    sip: 403,
    cure: 'Call a target of type teams.',
  },
  carrier_by_number_only: {
    cause:
      'A SIP URI, its proxy or a redirect leads to a carrier that does not belong to this account, on a platform whose operator reserves the carriers (SWITCHHOOK_ADMIN_CARRIERS).',
    http: 422,
    sip: 403,
    cure: 'Call the number with a target of type phone: it goes by the carriers that the account may use.',
  },
  sip_unreachable: {
    cause: 'No answer came from the SIP address, or no connection to it could be made.',
    http: 480,
    sip: 480,
    cure: 'Check the address, and that the far end listens there over that transport.',
  },
  sip_not_acknowledged: {
    cause:
      'The far end never acknowledged a response of the platform: the 200 or a provisional response was repeated for 32 s, and no ACK or PRACK came. An unanswered call then ends with 504.',
    http: 480,
    sip: 480,
    cure: 'Look at the messages of the call for the Contact and Record-Route of the response: the ACK or PRACK goes there. Behind NAT set SWITCHHOOK_PUBLIC_ADDRESS to the address that the far end reaches, let the firewall take its packets, and have each proxy on the way name in Record-Route an address that the far end reaches.',
  },
  sip_dialog_lost: {
    cause:
      'The far end of an answered call is gone in signalling: it did not respond to a request within the call, responded that the call does not exist, or did not refresh the session in time.',
    http: 480,
    sip: 480,
    cure: 'Look at the far end and the network in between: it ended without BYE, or its BYE did not come through. Where such calls end after the same time, a firewall or a proxy has forgotten the path: let the phone refresh it (SIP keep-alive, Session-Expires).',
  },
  sip_certificate: {
    cause:
      'A SIP connection over TLS led to a far end whose certificate is not trusted: it does not have the name that was called, has expired, or was signed by an unknown authority.',
    http: 480,
    sip: 480,
    cure: 'Name the gateway as its certificate does, have the carrier renew it, or add the authority that signed it to the file of SWITCHHOOK_TLS_AUTHORITIES.',
  },
  sip_refused_address: {
    cause:
      'The SIP URI leads to a private or reserved address, which customers may not call through the platform, to a SIP proxy of the operator, or to a phone that another account has registered. Or the gateway of an account leads to such a proxy or phone.',
    http: 403,
    sip: 403,
    cure: 'Add the network to SWITCHHOOK_WEBHOOK_ALLOW if it is meant to be called, or reach it through a carrier. Call the phones of your own users by a target of type user. A carrier that is to be called through a SIP proxy of the operator must be one of the service provider.',
  },
  user_not_registered: {
    cause: 'No phone is registered under the name that was to be called.',
    http: 404,
    sip: 404,
    cure: 'Check the name and that the phone is registered: see /Accounts/{AccountSid}/RegisteredSipUsers.',
  },
  user_unavailable: {
    cause: 'A user called another user of its realm, for whom no phone is registered.',
    http: 480,
    sip: 480,
    cure: 'Register a phone of the user that is called: /Accounts/{AccountSid}/RegisteredSipUsers lists those that are.',
  },
  no_carrier: {
    cause: 'The account has no carrier that takes calls to the number.',
    http: 422,
    sip: 603,
    cure: 'Give the account a carrier that is active, with a gateway that is active and outbound.',
  },
  call_not_here: {
    cause: 'A phone asked to replace a call (Replaces), and the account has no such call.',
    http: 404,
    sip: 481,
    cure: 'Nothing is wrong when that call has just ended; otherwise look at the Replaces of the phone.',
  },
  transfer_refused: {
    cause: 'A phone asked for a transfer (REFER) that cannot be made.',
    http: 422,
    sip: 603,
    cure: 'Look at the journal of the call: only its application can transfer a call without another side.',
  },
  call_state: {
    cause: 'The live call is not in a state that allows the command.',
    http: 422,
    cure: 'Look at call_status and the journal of the call, and send the command once it is in the state that the message names.',
  },
} as const satisfies Record<string, CatalogueEntry>
