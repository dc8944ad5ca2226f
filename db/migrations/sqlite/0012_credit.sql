CREATE TABLE `lending_rule_versions` (
	`version` text PRIMARY KEY NOT NULL,
	`rules` text NOT NULL,
	`first_used_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `merchant_default_blocks` (
	`merchant_id` text NOT NULL,
	`block` integer NOT NULL,
	`defaults` integer NOT NULL,
	PRIMARY KEY(`merchant_id`, `block`),
	FOREIGN KEY (`merchant_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `repayments_lender` ON `repayments` (`lender_id`,`id`);--> statement-breakpoint
CREATE TRIGGER repayments_unchanged BEFORE UPDATE OF id, merchant_id, lender_id, loan_ref, outcome, amount_usd, due_at, settled_at, dated_at, source, recorded_by, recorded_at ON repayments
BEGIN
  SELECT RAISE(ABORT, 'a repayment cannot be changed: it is reversed');
END;--> statement-breakpoint
CREATE TRIGGER repayments_reversed_once BEFORE UPDATE OF reversed_at ON repayments
WHEN OLD.reversed_at IS NOT NULL OR NEW.reversed_at IS NULL
BEGIN
  SELECT RAISE(ABORT, 'a repayment is reversed once');
END;--> statement-breakpoint
CREATE TRIGGER repayments_kept BEFORE DELETE ON repayments
BEGIN
  SELECT RAISE(ABORT, 'a repayment cannot be removed');
END;--> statement-breakpoint
CREATE TRIGGER repayments_not_replaced BEFORE INSERT ON repayments
WHEN EXISTS (SELECT 1 FROM repayments WHERE id = NEW.id) OR EXISTS (SELECT 1 FROM repayments WHERE rowid = NEW.rowid)
  OR (NEW.reversed_at IS NULL AND EXISTS (SELECT 1 FROM repayments WHERE lender_id = NEW.lender_id AND loan_ref = NEW.loan_ref AND due_at = NEW.due_at AND reversed_at IS NULL))
BEGIN
  SELECT RAISE(ABORT, 'a repayment cannot be replaced');
END;--> statement-breakpoint
CREATE TRIGGER repayment_reversals_unchanged BEFORE UPDATE ON repayment_reversals
BEGIN
  SELECT RAISE(ABORT, 'a reversal cannot be changed or removed');
END;--> statement-breakpoint
CREATE TRIGGER repayment_reversals_kept BEFORE DELETE ON repayment_reversals
BEGIN
  SELECT RAISE(ABORT, 'a reversal cannot be changed or removed');
END;--> statement-breakpoint
CREATE TRIGGER lender_status_history_unchanged BEFORE UPDATE ON lender_status_history
BEGIN
  SELECT RAISE(ABORT, 'the history of a lender cannot be changed or removed');
END;--> statement-breakpoint
CREATE TRIGGER lender_status_history_kept BEFORE DELETE ON lender_status_history
BEGIN
  SELECT RAISE(ABORT, 'the history of a lender cannot be changed or removed');
END;--> statement-breakpoint
CREATE TRIGGER lending_rule_versions_unchanged BEFORE UPDATE ON lending_rule_versions
BEGIN
  SELECT RAISE(ABORT, 'a version of the rules cannot be changed or removed');
END;--> statement-breakpoint
CREATE TRIGGER lending_rule_versions_kept BEFORE DELETE ON lending_rule_versions
BEGIN
  SELECT RAISE(ABORT, 'a version of the rules cannot be changed or removed');
END;
