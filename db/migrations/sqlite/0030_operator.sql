CREATE INDEX `audit_log_request` ON `audit_log` (`request_id`,`at`) WHERE request_id is not null;--> statement-breakpoint
ALTER TABLE `jobs` ADD `last_runs` text;