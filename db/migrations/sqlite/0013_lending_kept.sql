CREATE TABLE `document_stores` (
	`kind` text PRIMARY KEY NOT NULL,
	`mark` text NOT NULL,
	`registered_at` integer NOT NULL
) STRICT;--> statement-breakpoint
CREATE INDEX `lending_applications_drafts` ON `lending_applications` (`merchant_id`) WHERE status = 'DRAFT';--> statement-breakpoint
CREATE INDEX `repayments_reversed` ON `repayments` (`lender_id`,`loan_ref`,`due_at`) WHERE reversed_at is not null;--> statement-breakpoint
CREATE INDEX `repayments_loan` ON `repayments` (`loan_ref`,`id`);--> statement-breakpoint
CREATE INDEX `repayments_outcome` ON `repayments` (`outcome`,`id`);--> statement-breakpoint
CREATE TRIGGER lending_events_unchanged BEFORE UPDATE ON lending_events
BEGIN
  SELECT RAISE(ABORT, 'an event of an application cannot be changed or removed');
END;--> statement-breakpoint
CREATE TRIGGER lending_events_kept BEFORE DELETE ON lending_events
BEGIN
  SELECT RAISE(ABORT, 'an event of an application cannot be changed or removed');
END;--> statement-breakpoint
CREATE TRIGGER lending_events_not_replaced BEFORE INSERT ON lending_events
WHEN EXISTS (SELECT 1 FROM lending_events WHERE id = NEW.id) OR EXISTS (SELECT 1 FROM lending_events WHERE application_id = NEW.application_id AND position = NEW.position) OR EXISTS (SELECT 1 FROM lending_events WHERE rowid = NEW.rowid)
BEGIN
  SELECT RAISE(ABORT, 'an event of an application cannot be replaced');
END;--> statement-breakpoint
CREATE TRIGGER lending_decisions_unchanged BEFORE UPDATE ON lending_decisions
BEGIN
  SELECT RAISE(ABORT, 'a decision cannot be changed or removed');
END;--> statement-breakpoint
CREATE TRIGGER lending_decisions_kept BEFORE DELETE ON lending_decisions
BEGIN
  SELECT RAISE(ABORT, 'a decision cannot be changed or removed');
END;--> statement-breakpoint
CREATE TRIGGER lending_decisions_not_replaced BEFORE INSERT ON lending_decisions
WHEN EXISTS (SELECT 1 FROM lending_decisions WHERE id = NEW.id) OR EXISTS (SELECT 1 FROM lending_decisions WHERE rowid = NEW.rowid)
BEGIN
  SELECT RAISE(ABORT, 'a decision cannot be replaced');
END;--> statement-breakpoint
CREATE TRIGGER repayment_reversals_not_replaced BEFORE INSERT ON repayment_reversals
WHEN EXISTS (SELECT 1 FROM repayment_reversals WHERE id = NEW.id) OR EXISTS (SELECT 1 FROM repayment_reversals WHERE repayment_id = NEW.repayment_id) OR EXISTS (SELECT 1 FROM repayment_reversals WHERE rowid = NEW.rowid)
BEGIN
  SELECT RAISE(ABORT, 'a reversal cannot be replaced');
END;--> statement-breakpoint
CREATE TRIGGER lender_status_history_not_replaced BEFORE INSERT ON lender_status_history
WHEN EXISTS (SELECT 1 FROM lender_status_history WHERE id = NEW.id) OR EXISTS (SELECT 1 FROM lender_status_history WHERE lender_id = NEW.lender_id AND position = NEW.position) OR EXISTS (SELECT 1 FROM lender_status_history WHERE rowid = NEW.rowid)
BEGIN
  SELECT RAISE(ABORT, 'the history of a lender cannot be replaced');
END;
