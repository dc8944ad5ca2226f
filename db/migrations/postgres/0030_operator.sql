CREATE INDEX "audit_log_request" ON "audit_log" USING btree ("request_id","at") WHERE request_id is not null;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "last_runs" text;