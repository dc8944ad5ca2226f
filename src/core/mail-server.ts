/** The mail server, as senders of mails use it. */

/** A mail to send. Header fields were checked for line breaks. */
export type OutgoingMail = {
  /** Without angle brackets. All attempts use the same id, so that receivers recognise duplicates. */
  readonly messageId: string
  readonly from: { readonly name: string | undefined; readonly address: string }
  readonly to: string
  readonly replyTo: string | undefined
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly language: string
  /** The `List-Unsubscribe` header: a page that also takes a POST without a form (RFC 8058). */
  readonly unsubscribeUrl?: string | undefined
  /** The `Date` header, in milliseconds. */
  readonly at: number
}

/**
 * Why a mail was not accepted.
 * - `refused`: permanent, such as an unknown address.
 * - `later`: temporary for this mail, such as greylisting.
 * - `broken`: the connection failed during the transfer; the server may have accepted the mail.
 * - `server`: the server is unreachable or refuses the login.
 */
type MailFailure = 'refused' | 'later' | 'broken' | 'server'

/** An error whose message contains no address and no text of the server. */
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

/** A connection to the mail server of the instance. */
export type MailServer = {
  /**
   * Sends a mail. Resolves when the server has accepted it.
   * @param withinMs time limit; the connection is closed afterwards
   * @throws MailNotTaken
   */
  send(mail: OutgoingMail, withinMs: number): Promise<void>
  /**
   * Logs in and out.
   * @throws MailNotTaken
   */
  verify(withinMs: number): Promise<void>
  /** Closes idle connections. */
  close(): void
}
