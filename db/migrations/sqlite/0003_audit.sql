CREATE TABLE `audit_retention` (
	`id` text PRIMARY KEY NOT NULL,
	`until` integer NOT NULL
) STRICT;
--> statement-breakpoint
ALTER TABLE `audit_log` ADD `address` text;--> statement-breakpoint
ALTER TABLE `audit_log` ADD `before` text;--> statement-breakpoint
ALTER TABLE `audit_log` ADD `after` text;--> statement-breakpoint
CREATE INDEX `audit_log_actor` ON `audit_log` (`actor`,`at`);--> statement-breakpoint
CREATE INDEX `audit_log_action` ON `audit_log` (`action`,`at`);--> statement-breakpoint
CREATE INDEX `audit_log_shop` ON `audit_log` (`shop_id`,`at`);--> statement-breakpoint
CREATE TRIGGER audit_log_unchanged BEFORE UPDATE ON audit_log
BEGIN
  SELECT RAISE(ABORT, 'the audit trail cannot be changed');
END;
--> statement-breakpoint
CREATE TRIGGER audit_log_kept BEFORE DELETE ON audit_log
WHEN NOT EXISTS (SELECT 1 FROM audit_retention WHERE until > OLD.at)
BEGIN
  SELECT RAISE(ABORT, 'the audit trail cannot be removed');
END;
--> statement-breakpoint
CREATE TRIGGER audit_log_not_replaced BEFORE INSERT ON audit_log
WHEN EXISTS (SELECT 1 FROM audit_log WHERE id = NEW.id) OR EXISTS (SELECT 1 FROM audit_log WHERE rowid = NEW.rowid)
BEGIN
  SELECT RAISE(ABORT, 'the audit trail cannot be replaced');
END;
