ALTER TABLE `staff` ADD `invited_by_mail` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `staff` ADD `accepted_by` text REFERENCES users(id);--> statement-breakpoint
CREATE INDEX `staff_accepted` ON `staff` (`accepted_by`) WHERE accepted_by is not null;