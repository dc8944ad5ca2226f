/** A mail server, as whoever has mails to send sees it. */

/** A mail as it is handed over. Texts have been looked at before: what somebody else wrote ends no header. */
export type OutgoingMail = {
  /** Without the angle brackets. The same for every attempt at one mail, so that whoever gets it twice sees it once. */
  readonly messageId: string
  readonly from: { readonly name: string | undefined; readonly address: string }
  readonly to: string
  readonly replyTo: string | undefined
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly language: string
  /** Of its `Date`, milliseconds. */
  readonly at: number
}

/**
 * Why a mail was not taken.
 * - `refused`: this mail never will be, as where nobody has that address.
 * - `later`: this mail not now, as where its addressee's server wants to be asked again.
 * - `broken`: the connection was lost or silent while this mail was on its way; it may have been taken.
 * - `server`: no mail is: the server cannot be reached, or does not let us in.
 */
export type MailFailure = 'refused' | 'later' | 'broken' | 'server'

/** What went wrong, in words that hold no address and nothing that the server wrote. */
export class MailNotTaken extends Error {
  override readonly name = 'MailNotTaken'
  constructor(
    readonly failure: MailFailure,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

export type MailServer = {
  /**
   * Hands a mail over. Once it resolves, the server answers for it.
   * @param withinMs what all of it may take; the connection is cut then
   * @throws MailNotTaken
   */
  send(mail: OutgoingMail, withinMs: number): Promise<void>
  /**
   * Logs in, and out again.
   * @throws MailNotTaken
   */
  verify(withinMs: number): Promise<void>
  /** Ends the connections that are kept for the next mail. */
  close(): void
}
